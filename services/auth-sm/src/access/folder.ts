import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import type { Actor } from "../audit.ts";
import type { Machine } from "../callers/machine.ts";
import { askerOf } from "../callers/machine.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { FolderLock } from "../store/folders.ts";
import { lockFolder } from "../store/folders.ts";
import { activeClient } from "./client.ts";
import { holders, requireHeldMembership, requireMembership } from "./membership.ts";
import type { Permission } from "./permission.ts";
import { covers } from "./permission.ts";
import { requireUserGrant } from "./user-grant.ts";

/** A folder that the caller may use as asked. */
export interface FolderAccess {
  orgId: string;
  actor: Actor;
  folderId: string;
  keyVersion: number;
}

/**
 * The caller's grant on a folder, as it is now: nothing keeps it so.
 * @throws ServiceError for a machine `access_denied` wherever the grant is missing (existence is never revealed across
 *   organizations); for a person `not_found` when the folder is not in the organization, `access_denied` when it is but
 *   was not granted. What `activeClient` and `requireMembership` throw besides.
 */
export async function requireFolder(
  deps: Deps,
  caller: Machine | User,
  folderId: string,
  needed: Permission,
): Promise<FolderAccess> {
  if (caller.kind === "machine") {
    const row = await deps.reads.folder(askerOf(deps, caller), folderId);
    const { orgId, actor } = activeClient(caller, row);
    const { keyVersion } = granted(row, needed);
    return { orgId, actor, folderId, keyVersion };
  }
  const { pool } = deps.database;
  const { orgId, actor } = await requireMembership(pool, caller, holders);
  const grant = await requireUserGrant(pool, caller, { orgId, folderId });
  return { orgId, actor, folderId, ...granted(grant, needed) };
}

/**
 * A person's grant on a folder, which stays as it is until the transaction ends, as far as `lock` says; and so do the
 * caller's membership and those of `others`. Throws as above.
 */
export async function requireLockedFolder(
  tx: Transaction,
  caller: User,
  folderId: string,
  { needed, lock, others = [] }: { needed: Permission; lock: FolderLock; others?: readonly string[] },
): Promise<FolderAccess> {
  const { orgId, actor } = await requireHeldMembership(tx, caller, holders, others);
  const judge = async (): Promise<{ keyVersion: number }> =>
    granted(await requireUserGrant(tx, caller, { orgId, folderId }), needed);
  // First without a lock: nobody holds up a folder that is not theirs.
  await judge();
  await lockFolder(tx, { orgId, folderId }, lock);
  return { orgId, actor, folderId, ...(await judge()) };
}

/**
 * The key version of a folder whose grant covers what is needed.
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
