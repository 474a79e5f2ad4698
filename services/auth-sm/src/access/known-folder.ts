import type { Role } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import { everyone, requireMembership } from "./membership.ts";
import { requireUserGrant } from "./user-grant.ts";

/**
 * A folder whose members and history the caller may see: with a grant on it, or with one of the
 * roles `unasked`, which need none. An auditor cannot use a grant.
 * @throws ServiceError `not_found` when the organization has no such folder, `access_denied` when
 * the caller may not see it, and what `requireMembership` throws
 */
export async function requireKnownFolder(
  db: Queryable,
  caller: User,
  folderId: string,
  unasked: readonly Role[],
): Promise<{ orgId: string; folderId: string }> {
  const { orgId, role } = await requireMembership(db, caller, everyone);
  const { permission } = await requireUserGrant(db, caller, { orgId, folderId });
  if (!unasked.includes(role) && (role === "auditor" || permission === null)) {
    throw new ServiceError("access_denied", "you have no permission on this folder");
  }
  return { orgId, folderId };
}
