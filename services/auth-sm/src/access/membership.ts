import { ServiceError } from "@coffer/errors";
import type { Queryable, Transaction } from "@coffer/postgres";
import type { Actor } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Membership, Role } from "../store/memberships.ts";
import { findMembership, hasMembership, holdMembership } from "../store/memberships.ts";

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
 * @throws ServiceError `not_found` when the caller has no organization at all, `access_denied` when the caller is not
 *   an active member of it or has none of the `allowed` roles.
 */
export async function requireMembership(
  db: Queryable,
  caller: User,
  allowed: readonly Role[],
): Promise<ActiveMembership> {
  return judged(db, caller, allowed, await findMembership(db, caller.userId, caller.orgId));
}

/** The same for what writes: the caller is neither removed nor suspended nor demoted before the transaction ends. */
export async function requireHeldMembership(
  tx: Transaction,
  caller: User,
  allowed: readonly Role[],
): Promise<ActiveMembership> {
  return judged(tx, caller, allowed, await holdMembership(tx, caller.userId, caller.orgId));
}

async function judged(
  db: Queryable,
  caller: User,
  allowed: readonly Role[],
  membership: Membership | null,
): Promise<ActiveMembership> {
  if (membership === null) {
    if (caller.orgId === undefined || !(await hasMembership(db, caller.userId))) {
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

/** How an audit record names a person. */
export function userActor(caller: User): Actor {
  return { type: "user", id: caller.userId, session_id: caller.sessionId };
}
