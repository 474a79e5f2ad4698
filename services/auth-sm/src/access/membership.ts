import { ServiceError } from "@coffer/errors";
import type { Queryable, Transaction } from "@coffer/postgres";
import { sessionEnded, userActor } from "@coffer/service";
import type { Actor } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Membership, Role } from "../store/memberships.ts";
import { findMembershipInSession, hasMembership } from "../store/memberships.ts";
import { holdPeople } from "../store/person-locks.ts";

export { userActor } from "@coffer/service";

/** A person's place in the organization that the request is about. */
export interface ActiveMembership {
  orgId: string;
  role: Role;
  actor: Actor;
}

/** Who manages an organization: its folders, applications, tokens, clients and members. */
export const managers: readonly Role[] = ["owner", "admin"];
/** Who sees an organization's lists and metadata. */
export const observers: readonly Role[] = ["owner", "admin", "auditor"];
/** Who may use a grant on a folder: an auditor reads no ciphertext, whatever was granted. */
export const holders: readonly Role[] = ["owner", "admin", "member"];
/** Every member that is not suspended. */
export const everyone: readonly Role[] = ["owner", "admin", "auditor", "member"];

/**
 * The caller's membership of the chosen organization (`X-Coffer-Org`), or of the oldest one, for what only reads.
 * @throws ServiceError `invalid_token` when the session has been ended since the request was let in, `not_found` when the
 *   caller has no organization at all, `access_denied` when the caller is not an active member of it or has none of the
 *   `allowed` roles.
 */
export async function requireMembership(
  db: Queryable,
  caller: User,
  allowed: readonly Role[],
): Promise<ActiveMembership> {
  const membership = await findMembershipInSession(db, caller);
  if (membership?.session_lasts === false) throw sessionEnded();
  // Asked only where it makes a difference.
  const belongs = membership !== null || (caller.orgId !== undefined && (await hasMembership(db, caller.userId)));
  return activeMembership(caller, allowed, { membership, belongs });
}

/**
 * The same judgement over what a statement of the caller's own has read: the membership, null without one, and whether
 * the person belongs to any organization.
 */
export function activeMembership(
  caller: User,
  allowed: readonly Role[],
  { membership, belongs }: { membership: Pick<Membership, "org_id" | "role" | "status"> | null; belongs: boolean },
): ActiveMembership {
  if (membership === null) {
    if (!belongs) {
      throw new ServiceError("not_found", "you belong to no organization: create one, or accept an invitation to one");
    }
    throw new ServiceError("access_denied", "you are not a member of this organization");
  }
  if (membership.status !== "active") {
    throw new ServiceError("access_denied", "your membership of this organization is suspended");
  }
  if (!allowed.includes(membership.role)) {
    throw new ServiceError("access_denied", `this needs the role ${allowed.join(" or ")}; yours is ${membership.role}`);
  }
  return { orgId: membership.org_id, role: membership.role, actor: userActor(caller) };
}

/**
 * The same for what writes: the caller is neither removed nor suspended nor demoted before the transaction ends, and
 * neither are `others`.
 */
export async function requireHeldMembership(
  tx: Transaction,
  caller: User,
  allowed: readonly Role[],
  others: readonly string[] = [],
): Promise<ActiveMembership> {
  await holdPeople(tx, [caller.userId, ...others]);
  return requireMembership(tx, caller, allowed);
}
