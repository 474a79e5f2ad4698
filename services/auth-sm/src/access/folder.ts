import { covers, type Permission } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { Actor } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { callingClientOf, type Machine } from "../callers/machine.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type FolderLock, lockFolder } from "../store/folders/folders.ts";
import { activeClient } from "./client.ts";
import { holders, requireHeldMembership, requireMembership } from "./membership.ts";
import { opened } from "./opened.ts";
import { requireUserGrant } from "./user-grant.ts";

/** A folder on which the caller has the needed permission. */
export interface FolderAccess {
  orgId: string;
  actor: Actor;
  folderId: string;
  keyVersion: number;
}

/**
 * The caller's grant on a folder, read without a lock: it can change at once.
 * @throws ServiceError To a machine: `access_denied` without a grant, because a machine must not
 * learn which folders other organizations have. To a person: `not_found` when the organization has
 * no such folder, `access_denied` without a grant. Also what `activeClient` and `requireMembership`
 * throw.
 */
export async function requireFolder(
  deps: Deps,
  caller: Machine | User,
  folderId: string,
  needed: Permission,
): Promise<FolderAccess> {
  if (caller.kind === "machine") {
    const row = opened(await deps.reads.folder(callingClientOf(deps, caller), folderId));
    const { orgId, actor, client } = activeClient(caller, row);
    const { keyVersion } = granted(client, needed);
    return { orgId, actor, folderId, keyVersion };
  }
  const { pool } = deps.database;
  const { orgId, actor } = await requireMembership(pool, caller, holders);
  const grant = await requireUserGrant(pool, caller, { orgId, folderId });
  return { orgId, actor, folderId, ...granted(grant, needed) };
}

/**
 * A person's grant on a folder, locked until the transaction ends as far as `lock` says. The
 * memberships of the caller and of `others` are locked too. Throws like `requireFolder`.
 */
export async function requireLockedFolder(
  tx: Transaction,
  caller: User,
  folderId: string,
  { needed, lock, others = [] }: { needed: Permission; lock: FolderLock; others?: readonly string[] },
): Promise<FolderAccess> {
  const { orgId, actor } = await requireHeldMembership(tx, caller, holders, others);
  const authorize = async (): Promise<{ keyVersion: number }> =>
    granted(await requireUserGrant(tx, caller, { orgId, folderId }), needed);
  // Authorize before locking: a caller without a grant must not be able to block the folder.
  await authorize();
  await lockFolder(tx, { orgId, folderId }, lock);
  return { orgId, actor, folderId, ...(await authorize()) };
}

/**
 * The key version of a folder whose grant covers `needed`.
 * @throws ServiceError `access_denied`
 */
export function granted(
  grant: { permission: Permission | null; key_version: number | null } | null,
  needed: Permission,
): { keyVersion: number } {
  if (grant === null || grant.permission === null || grant.key_version === null || !covers(grant.permission, needed)) {
    throw new ServiceError("access_denied", `you have no ${needed} permission on this folder`);
  }
  return { keyVersion: grant.key_version };
}
