import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { everyone, observers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { findFolder, type HolderRow, listHolders } from "../store/folders.ts";
import type { FolderPath } from "./bodies.ts";

/**
 * GET /api/org/folders/{id}/members
 * The members and machines with a grant. For those members, managers and auditors.
 */
export async function listFolderHolders(
  deps: Deps,
  { caller, params }: Call<User, FolderPath>,
): Promise<{ data: readonly HolderRow[] }> {
  const { pool } = deps.database;
  const { orgId, role } = await requireMembership(pool, caller, everyone);
  const folder = await findFolder(pool, { orgId, userId: caller.userId, folderId: params.id });
  if (folder === null) throw new ServiceError("not_found", "folder not found");
  if (folder.permission === null && !observers.includes(role)) {
    throw new ServiceError("access_denied", "you have no permission on this folder");
  }
  return { data: await listHolders(pool, folder.id, deps.now()) };
}
