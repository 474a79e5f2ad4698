import type { Call, Streamed } from "@coffer/http";
import { everyone, observers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { answerList, type PageQuery } from "../lists/answer-list.ts";
import { listFolders } from "../store/folders/folders.ts";
import { nameCursor, nameKeyOf, namePosition } from "../store/list-parts.ts";
import { folderView } from "./view.ts";

/**
 * GET /api/org/folders
 * All folders for managers and auditors; folders with a grant for members.
 */
export function listOrgFolders(
  { database: { pool } }: Deps,
  call: Call<User, unknown, undefined, PageQuery>,
): Promise<object | Streamed> {
  return answerList(call, {
    position: namePosition,
    keyOf: nameKeyOf,
    cursorOf: nameCursor,
    view: ({ name_folded: _, ...folder }) => folder,
    read: async (caller, wanted) => {
      const { orgId, role } = await requireMembership(pool, caller, everyone);
      const onlyGranted = !observers.includes(role);
      const { rows, more } = await listFolders(pool, { orgId, userId: caller.userId, onlyGranted, ...wanted });
      return { orgId, more, rows: rows.map((row) => folderView(row, role)) };
    },
  });
}
