import { answerParts, type Call, decodeCursor, type Part, type Streamed } from "@coffer/http";
import { observers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type ListedApplicationRow, listApplications } from "../store/applications.ts";
import { type NameKey, nameCursor, nameKeyOf, namePosition, type Wanted } from "../store/list-parts.ts";
import type { ListQuery } from "./bodies.ts";

/** GET /api/org/applications: a long list is sent in parts (docs/adr/0011). */
export async function listOrgApplications(
  deps: Deps,
  { caller, query: { limit, cursor } }: Call<User, unknown, undefined, ListQuery>,
): Promise<object | Streamed> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, namePosition);
  const { orgId, ...first } = await readPart(deps, caller, { after, limit });
  return answerParts(first, {
    view: ({ name_folded: _, ...application }) => application,
    cursor: nameCursor,
    next: (last, left) => readPart(deps, { ...caller, orgId }, { after: nameKeyOf(last), limit: left }),
    limit,
  });
}

async function readPart(
  { database: { pool } }: Deps,
  caller: User,
  wanted: Wanted<NameKey>,
): Promise<Part<ListedApplicationRow> & { orgId: string }> {
  const { orgId } = await requireMembership(pool, caller, observers);
  return { orgId, ...(await listApplications(pool, { orgId, ...wanted })) };
}
