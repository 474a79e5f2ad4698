import type { Call } from "@coffer/http";
import { requireKnownFolder } from "../access/known-folder.ts";
import { managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type HistoryPage, listEntries } from "../store/histories.ts";
import type { HistoryQuery } from "@coffer/service";
import type { HistoryFolderPath } from "./bodies.ts";
import { folderRes } from "./resources.ts";

/** GET /api/org/folders/{id}/history: For people with a grant, owners and admins. */
export async function readFolderHistory(
  deps: Deps,
  { caller, params, query }: Call<User, HistoryFolderPath, undefined, HistoryQuery>,
): Promise<HistoryPage> {
  const { pool } = deps.database;
  const { folderId } = await requireKnownFolder(pool, caller, params.id, managers);
  return listEntries(pool, folderRes(folderId), query.after);
}
