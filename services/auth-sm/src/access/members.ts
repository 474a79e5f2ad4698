import { roles, type Role } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import { findMember, lockMembers, type MemberRow } from "../store/members.ts";
import { lockPerson } from "../store/person-locks.ts";
import { type ActiveMembership, requireMembership } from "./membership.ts";

/**
 * The right to change an organization's members. Locks the members until the transaction ends, so
 * later reads see the state that the change applies to.
 * @throws ServiceError what `requireMembership` throws
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
 * Locks a member who is about to be changed. The member's running writes finish first; later ones
 * see the change. If two organizations remove the same person at once, the second sees the removal
 * by the first.
 * @throws ServiceError `not_found`
 */
export async function requireMemberLocked(tx: Transaction, orgId: string, userId: string): Promise<MemberRow> {
  const find = async (): Promise<MemberRow> => {
    const member = await findMember(tx, orgId, userId);
    if (member === null) throw new ServiceError("not_found", "member not found");
    return member;
  };
  // Look up before locking: a caller must not be able to block a person of another organization.
  await find();
  await lockPerson(tx, userId);
  return find();
}

/**
 * The roles that a member with the role `held` may give, change and remove: none above their own.
 */
export function rolesBelow(held: Role): readonly Role[] {
  if (held === "owner") return roles;
  return held === "admin" ? roles.filter((role) => role !== "owner") : [];
}

/**
 * Refuses a change to an owner by anyone but an owner.
 * @param about the role that is given, changed or removed
 * @throws ServiceError `access_denied`
 */
export function requireRankOver(held: Role, about: Role): void {
  if (!rolesBelow(held).includes(about)) {
    throw new ServiceError("access_denied", `this needs the role owner; yours is ${held}`);
  }
}
