import type { Role } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { Actor } from "@coffer/http";
import type { Queryable, Transaction } from "@coffer/postgres";
import { requireActive, sessionEnded, userActor } from "@coffer/service";
import type { User } from "../callers/user.ts";
import { findMembershipInSession, hasMembership, type Membership } from "../store/organizations/memberships.ts";
import { holdPeople } from "../store/accounts/person-locks.ts";

/** The caller's membership of the organization that the request is about. */
export interface ActiveMembership {
  orgId: string;
  role: Role;
  actor: Actor;
}

/**
 * The roles that manage an organization: its folders, applications, tokens, clients and members.
 */
export const managers: readonly Role[] = ["owner", "admin"];
/** The roles that see an organization's lists and metadata. */
export const observers: readonly Role[] = ["owner", "admin", "auditor"];
/**
 * The roles that may use a grant on a folder. An auditor never reads ciphertext, whatever was
 * granted.
 */
export const holders: readonly Role[] = ["owner", "admin", "member"];
/** Every role. Suspended members are refused separately. */
export const everyone: readonly Role[] = ["owner", "admin", "auditor", "member"];

/**
 * The caller's membership of the chosen organization (`X-Coffer-Org`), or of the oldest one. For
 * reads.
 * @throws ServiceError `invalid_token` when the session ended after the request was authenticated;
 * `not_found` when the caller has no organization; `access_denied` when the caller is not an active
 * member or has none of the `allowed` roles
 */
export async function requireMembership(
  db: Queryable,
  caller: User,
  allowed: readonly Role[],
): Promise<ActiveMembership> {
  const membership = await findMembershipInSession(db, caller);
  if (membership?.session_lasts === false) throw sessionEnded();
  // A query that only the choice of the error message needs.
  const belongs = membership !== null || (caller.orgId !== undefined && (await hasMembership(db, caller.userId)));
  return activeMembership(caller, allowed, { membership, belongs });
}

/**
 * Checks a membership that the caller's own statement has read. `belongs` says whether the person
 * is a member of any organization.
 */
export function activeMembership(
  caller: User,
  allowed: readonly Role[],
  { membership, belongs }: { membership: Pick<Membership, "org_id" | "role" | "status"> | null; belongs: boolean },
): ActiveMembership {
  if (membership === null && !belongs)
    throw new ServiceError("not_found", "you belong to no organization: create one, or accept an invitation to one");
  const { org_id, role } = requireActive(membership);
  if (!allowed.includes(role))
    throw new ServiceError("access_denied", `this needs the role ${allowed.join(" or ")}; yours is ${role}`);
  return { orgId: org_id, role, actor: userActor(caller) };
}

/**
 * A membership for writes: until the transaction ends, neither the caller nor `others` can be
 * removed, suspended or demoted.
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
