import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { Actor } from "../audit.ts";
import type { Machine } from "../callers/machine.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { lockClientGrant, lockUserGrant } from "../store/folder-grants.ts";
import { requireClient } from "./client.ts";
import type { Permission } from "./permission.ts";
import { covers } from "./permission.ts";
import { holders, requireMembership } from "./membership.ts";

/** A folder that the caller may use as asked. The folder row is locked against rotation and deletion by the caller's
 * transaction. */
export interface FolderAccess {
  orgId: string;
  actor: Actor;
  folderId: string;
  keyVersion: number;
  permission: Permission;
}

/**
 * The caller's grant on a folder.
 * @throws ServiceError for a machine `access_denied` wherever the grant is missing (existence is never revealed across
 *   organizations); for a person `not_found` when the folder is not in the organization, `access_denied` when it is but
 *   was not granted. What `requireClient` and `requireMembership` throw besides.
 */
export async function requireFolder(
  tx: Queryable,
  deps: Deps,
  caller: Machine | User,
  folderId: string,
  needed: Permission,
): Promise<FolderAccess> {
  if (caller.kind === "machine") {
    const { orgId, actor } = await requireClient(tx, deps, caller);
    const grant = await lockClientGrant(tx, caller.clientId, folderId);
    if (grant === null || !covers(grant.permission, needed)) throw denied(needed);
    return { orgId, actor, folderId, keyVersion: grant.key_version, permission: grant.permission };
  }
  const { orgId, actor } = await requireMembership(tx, caller, holders);
  const grant = await lockUserGrant(tx, { orgId, userId: caller.userId, folderId });
  if (grant === null) throw new ServiceError("not_found", "folder not found");
  if (grant.permission === null || !covers(grant.permission, needed)) throw denied(needed);
  return { orgId, actor, folderId, keyVersion: grant.key_version, permission: grant.permission };
}

function denied(needed: Permission): ServiceError {
  return new ServiceError("access_denied", `you have no ${needed} permission on this folder`);
}
