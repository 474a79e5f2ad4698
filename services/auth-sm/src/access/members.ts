import { roles, type Role } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { Queryable, Transaction } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import { findMember, lockMembers, type MemberRow, type Outranked } from "../store/organizations/members.ts";
import { lockPerson } from "../store/accounts/person-locks.ts";
import { type ActiveMembership, everyone, requireMembership } from "./membership.ts";

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
  // Look up before locking: a caller must not be able to block a person of another organization.
  await requireMember(tx, orgId, userId);
  await lockPerson(tx, userId);
  return requireMember(tx, orgId, userId);
}

async function requireMember(db: Queryable, orgId: string, userId: string): Promise<MemberRow> {
  const member = await findMember(db, orgId, userId);
  if (member === null) throw new ServiceError("not_found", "member not found");
  return member;
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
 * @param about what is given, changed or removed: a role, or the member or invitation that has it
 * @throws ServiceError `access_denied`
 */
export function requireRankOver<Ranked extends { role: Role }>(held: Role, about: Ranked): Outranked<Ranked> {
  if (!rolesBelow(held).includes(about.role)) {
    throw new ServiceError("access_denied", `this needs the role owner; yours is ${held}`);
  }
  return about as Outranked<Ranked>; // It is outranked now.
}

/** A member, and the membership by which the caller may remove this member. */
export interface Removable {
  membership: ActiveMembership;
  member: Outranked<MemberRow>;
}

/**
 * Checks that the caller may remove a member. Every member may remove themselves. Owners and admins
 * may remove others; only an owner may remove an owner. Locks nothing.
 * @throws ServiceError `not_found`, `access_denied`, and what `requireMembership` throws
 */
export async function requireRemovable(db: Queryable, caller: User, userId: string): Promise<Removable> {
  const membership = await requireMembership(db, caller, everyone);
  return removable(membership, caller, userId, () => requireMember(db, membership.orgId, userId));
}

/** Like `requireRemovable`. Locks the members and the person until the transaction ends. */
export async function requireLockedRemovable(tx: Transaction, caller: User, userId: string): Promise<Removable> {
  const membership = await requireMembersLocked(tx, caller, everyone);
  return removable(membership, caller, userId, () => requireMemberLocked(tx, membership.orgId, userId));
}

async function removable(
  membership: ActiveMembership,
  caller: User,
  userId: string,
  find: () => Promise<MemberRow>,
): Promise<Removable> {
  if (userId === caller.userId) return { membership, member: (await find()) as Outranked<MemberRow> }; // Leaving needs no rank.
  // First with the lowest role, so that a member without the right learns nothing about others.
  requireRankOver(membership.role, { role: "member" });
  return { membership, member: requireRankOver(membership.role, await find()) };
}
