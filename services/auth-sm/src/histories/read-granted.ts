import type { Call } from "@coffer/http";
import { requireFolder } from "../access/folder.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { type HistoryPage, listEntries } from "../store/histories.ts";
import type { HistoryQuery } from "@coffer/service";
import type { HistoryFolderPath } from "./bodies.ts";
import { folderRes } from "./resources.ts";

/** GET /api/sm/v1/folders/{id}/history: For machines with a grant. */
export async function readGrantedHistory(
  deps: Deps,
  { caller, params, query }: Call<Machine, HistoryFolderPath, undefined, HistoryQuery>,
): Promise<HistoryPage> {
  const { folderId } = await requireFolder(deps, caller, params.id, "read");
  return listEntries(deps.database.pool, folderRes(folderId), query.after);
}
