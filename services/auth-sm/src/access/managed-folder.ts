import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import { requireKeyVersion } from "../folders/key-version.ts";
import { type FolderLock, listManagedFolders, type LockedFolder, lockFolder } from "../store/folders/folders.ts";
import { type ActiveMembership, everyone, managers, requireHeldMembership } from "./membership.ts";
import { requireUserGrant } from "./user-grant.ts";

/**
 * A folder that the caller may rename, delete and revoke grants on, locked until the transaction
 * ends.
 */
export interface ManagedFolder extends ActiveMembership {
  folder: LockedFolder;
}

/**
 * The right to manage a folder: the role owner or admin, or a `manage` grant. An auditor cannot use
 * such a grant.
 * @throws ServiceError `not_found` when the organization has no such folder, `access_denied` when
 * the caller may not manage it, and what `requireHeldMembership` throws
 */
export async function requireManagedFolder(
  tx: Transaction,
  caller: User,
  folderId: string,
  lock: FolderLock,
): Promise<ManagedFolder> {
  const membership = await requireHeldMembership(tx, caller, everyone);
  const { orgId, role } = membership;
  const authorize = async (): Promise<void> => {
    const { permission } = await requireUserGrant(tx, caller, { orgId, folderId });
    if (!managers.includes(role) && (role === "auditor" || permission !== "manage")) {
      throw new ServiceError("access_denied", "this needs the role owner or admin, or manage permission on the folder");
    }
  };
  // Authorize before locking: a caller without a grant must not be able to block the folder.
  await authorize();
  const folder = await lockFolder(tx, { orgId, folderId }, lock);
  if (folder === null) throw new ServiceError("not_found", "folder not found");
  await authorize();
  return { ...membership, folder };
}

/**
 * The named folders, all of which the caller manages: a caller grants no more than they have.
 * @throws ServiceError `access_denied` when one is not managed by the caller, `conflict` for an
 * outdated key version
 */
export async function requireManagedFolders<Named extends { folder_id: string; key_version?: number | undefined }>(
  tx: Transaction,
  { userId }: User,
  { orgId, named }: { orgId: string; named: readonly Named[] },
): Promise<readonly Named[]> {
  const folderIds = named.map(({ folder_id }) => folder_id);
  const managed = new Map((await listManagedFolders(tx, { orgId, userId, folderIds })).map((row) => [row.id, row]));
  for (const { folder_id, key_version } of named) {
    const folder = managed.get(folder_id);
    if (folder === undefined) {
      throw new ServiceError("access_denied", "you need manage permission on every folder that the token names");
    }
    requireKeyVersion(key_version, folder.key_version);
  }
  return named;
}
