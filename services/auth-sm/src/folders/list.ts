import type { Call } from "@coffer/http";
import { everyone, observers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type FolderRow, listFolders } from "../store/folders.ts";
import { folderView } from "./view.ts";

/**
 * GET /api/org/folders
 * All folders for managers and auditors; folders with a grant for members.
 */
export async function listOrgFolders(deps: Deps, { caller }: Call<User>): Promise<{ data: FolderRow[] }> {
  const { pool } = deps.database;
  const { orgId, role } = await requireMembership(pool, caller, everyone);
  const onlyGranted = !observers.includes(role);
  const folders = await listFolders(pool, { orgId, userId: caller.userId, onlyGranted });
  return { data: folders.map((folder) => folderView(folder, role)) };
}
