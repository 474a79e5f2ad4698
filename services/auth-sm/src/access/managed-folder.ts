import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import type { FolderLock, LockedFolder } from "../store/folders.ts";
import { lockFolder } from "../store/folders.ts";
import type { ActiveMembership } from "./membership.ts";
import { everyone, managers, requireHeldMembership } from "./membership.ts";
import { requireUserGrant } from "./user-grant.ts";

/** A folder that the caller may rename, delete and withdraw grants on, locked until the transaction ends. */
export interface ManagedFolder extends ActiveMembership {
  folder: LockedFolder;
}

/**
 * The right to manage a folder: the role of owner or admin, or a `manage` grant, which an auditor cannot use.
 * @throws ServiceError `not_found` when the folder is not in the organization, `access_denied` when it may not be
 *   managed, and what `requireHeldMembership` throws.
 */
export async function requireManagedFolder(
  tx: Transaction,
  caller: User,
  folderId: string,
  lock: FolderLock,
): Promise<ManagedFolder> {
  const membership = await requireHeldMembership(tx, caller, everyone);
  const { orgId, role } = membership;
  const judge = async (): Promise<void> => {
    const { permission } = await requireUserGrant(tx, caller, { orgId, folderId });
    if (!managers.includes(role) && (role === "auditor" || permission !== "manage")) {
      throw new ServiceError("access_denied", "this needs the role owner or admin, or manage permission on the folder");
    }
  };
  // First without a lock: nobody holds up a folder that is not theirs.
  await judge();
  const folder = await lockFolder(tx, { orgId, folderId }, lock);
  if (folder === null) throw new ServiceError("not_found", "folder not found");
  await judge();
  return { ...membership, folder };
}
