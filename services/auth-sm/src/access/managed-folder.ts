import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import { lockFolder } from "../store/folders.ts";
import type { ActiveMembership } from "./membership.ts";
import { everyone, managers, requireMembership } from "./membership.ts";

/** A folder that the caller may rename, delete and withdraw grants on, locked until the transaction ends. */
export interface ManagedFolder extends ActiveMembership {
  folder: { id: string; name: string };
}

/**
 * The right to manage a folder: the role of owner or admin, or a `manage` grant, which an auditor cannot use.
 * @throws ServiceError `not_found` when the folder is not in the organization, `access_denied` when it may not be
 *   managed, and what `requireMembership` throws.
 */
export async function requireManagedFolder(tx: Queryable, caller: User, folderId: string): Promise<ManagedFolder> {
  const membership = await requireMembership(tx, caller, everyone);
  const { orgId, role } = membership;
  const folder = await lockFolder(tx, { orgId, userId: caller.userId, folderId });
  if (folder === null) throw new ServiceError("not_found", "folder not found");
  if (!managers.includes(role) && (role === "auditor" || folder.permission !== "manage")) {
    throw new ServiceError("access_denied", "this needs the role owner or admin, or manage permission on the folder");
  }
  return { ...membership, folder: { id: folder.id, name: folder.name } };
}
