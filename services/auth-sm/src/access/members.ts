import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import type { Role } from "../store/memberships.ts";
import { roles } from "../store/memberships.ts";
import type { MemberRow } from "../store/members.ts";
import { findMember, lockMembers } from "../store/members.ts";
import { lockPerson } from "../store/person-locks.ts";
import type { ActiveMembership } from "./membership.ts";
import { requireMembership } from "./membership.ts";

/**
 * The right to change who is in the organization. Nobody else changes it until the transaction ends, so that what is
 * read after this is what the change is about.
 * @throws ServiceError what `requireMembership` throws.
 */
export async function requireMembersLocked(
  tx: Transaction,
  caller: User,
  allowed: readonly Role[],
): Promise<ActiveMembership> {
  const { orgId } = await requireMembership(tx, caller, allowed);
  await lockMembers(tx, orgId);
  return requireMembership(tx, { ...caller, orgId }, allowed);
}

/**
 * A member of the organization who is about to be changed: what the member does now ends first, what comes later sees the
 * change. Of two organizations that let go of the same person at once, the second knows of the first.
 * @throws ServiceError `not_found`
 */
export async function requireMemberLocked(tx: Transaction, orgId: string, userId: string): Promise<MemberRow> {
  const find = async (): Promise<MemberRow> => {
    const member = await findMember(tx, orgId, userId);
    if (member === null) throw new ServiceError("not_found", "member not found");
    return member;
  };
  // First without the lock: nobody holds up a person who is none of theirs.
  await find();
  await lockPerson(tx, userId);
  return find();
}

/** The roles that somebody in the role `held` may give, change and take away: nobody grants more than they have. */
export function rolesBelow(held: Role): readonly Role[] {
  if (held === "owner") return roles;
  return held === "admin" ? roles.filter((role) => role !== "owner") : [];
}

/**
 * Refuses what only an owner may do to an owner.
 * @param about the role that is given, changed or taken away
 * @throws ServiceError `access_denied`
 */
export function requireRankOver(held: Role, about: Role): void {
  if (!rolesBelow(held).includes(about)) {
    throw new ServiceError("access_denied", `this needs the role owner; yours is ${held}`);
  }
}
