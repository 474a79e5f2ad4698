import { answerParts, type Call, decodeCursor, type Part, type Streamed } from "@coffer/http";
import { requireApplication } from "../access/application.ts";
import { observers } from "../access/membership.ts";
import type { ApplicationPath, ListQuery } from "../applications/bodies.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type AccessTokenRow, listAccessTokens } from "../store/access-tokens.ts";
import { timeCursor, type TimeKey, timePosition, type Wanted } from "../store/list-parts.ts";

/** GET /api/org/applications/{id}/tokens: a long list is sent in parts (docs/adr/0011). */
export async function listTokens(
  deps: Deps,
  { caller, params, query: { limit, cursor } }: Call<User, ApplicationPath, undefined, ListQuery>,
): Promise<object | Streamed> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, timePosition);
  const { orgId, ...first } = await readPart(deps, caller, params.id, { after, limit });
  return answerParts(first, {
    view: (token) => token,
    cursor: timeCursor,
    next: (last, left) => readPart(deps, { ...caller, orgId }, params.id, { after: last, limit: left }),
    limit,
  });
}

async function readPart(
  { database: { pool }, now }: Deps,
  caller: User,
  id: string,
  wanted: Wanted<TimeKey>,
): Promise<Part<AccessTokenRow> & { orgId: string }> {
  const { orgId, application } = await requireApplication(pool, caller, id, observers);
  const part = await listAccessTokens(pool, { applicationId: application.id, now: now(), ...wanted });
  return { orgId, ...part };
}
