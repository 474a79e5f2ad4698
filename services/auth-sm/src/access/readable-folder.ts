import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { Actor } from "../audit.ts";
import type { User } from "../callers/user.ts";
import { findUserGrant } from "../store/folder-grants.ts";
import { everyone, requireMembership } from "./membership.ts";

/** A folder whose secrets a person may list: with their ciphertext, or for an auditor their metadata alone. */
export interface ReadableFolder {
  orgId: string;
  actor: Actor;
  folderId: string;
  ciphertext: boolean;
}

/**
 * The person's right to see what is in a folder. An auditor sees every folder's metadata and never ciphertext.
 * @throws ServiceError `not_found` when the folder is not in the organization, `access_denied` when it was not granted,
 *   and what `requireMembership` throws.
 */
export async function requireReadableFolder(db: Queryable, caller: User, folderId: string): Promise<ReadableFolder> {
  const { orgId, actor, role } = await requireMembership(db, caller, everyone);
  const grant = await findUserGrant(db, { orgId, userId: caller.userId, folderId });
  if (grant === null) throw new ServiceError("not_found", "folder not found");
  if (role === "auditor") return { orgId, actor, folderId, ciphertext: false };
  if (grant.permission === null) throw new ServiceError("access_denied", "you have no read permission on this folder");
  return { orgId, actor, folderId, ciphertext: true };
}
