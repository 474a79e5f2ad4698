import { answerParts, type Call, decodeCursor, type Part, type Streamed } from "@coffer/http";
import { everyone, observers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type ListedFolderRow, listFolders } from "../store/folders.ts";
import { type NameKey, nameCursor, nameKeyOf, namePosition, type Wanted } from "../store/list-parts.ts";
import type { FolderListQuery } from "./bodies.ts";
import { folderView } from "./view.ts";

/**
 * GET /api/org/folders
 * All folders for managers and auditors; folders with a grant for members. A long list is sent in
 * parts, each authorized before it is sent (docs/adr/0011).
 */
export async function listOrgFolders(
  deps: Deps,
  { caller, query: { limit, cursor } }: Call<User, unknown, undefined, FolderListQuery>,
): Promise<object | Streamed> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, namePosition);
  const { orgId, ...first } = await readPart(deps, caller, { after, limit });
  return answerParts(first, {
    view: ({ name_folded: _, ...folder }) => folder,
    cursor: nameCursor,
    next: (last, left) => readPart(deps, { ...caller, orgId }, { after: nameKeyOf(last), limit: left }),
    limit,
  });
}

async function readPart(
  { database: { pool } }: Deps,
  caller: User,
  wanted: Wanted<NameKey>,
): Promise<Part<ListedFolderRow> & { orgId: string }> {
  const { orgId, role } = await requireMembership(pool, caller, everyone);
  const onlyGranted = !observers.includes(role);
  const { rows, more } = await listFolders(pool, { orgId, userId: caller.userId, onlyGranted, ...wanted });
  return { orgId, more, rows: rows.map((row) => folderView(row, role)) };
}
