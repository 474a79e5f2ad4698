import { ServiceError } from "@coffer/errors";
import type { Route } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { askMembershipInSession, requireActive, requireMember, type User } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { findMembership, insertUnversioned, type MembershipRow } from "../store/memberships.ts";

/** A membership of the copy, or as auth-sm answers. */
type KnownMembership = Pick<MembershipRow, "org_id" | "status">;

type OrganizationDeps = Pick<Deps, "bus" | "database" | "memberships" | "now">;

/**
 * The organization of a person's new vault: the chosen one (`X-Coffer-Org`), or the oldest
 * membership; null without any. Requests memberships from auth-sm that the copy does not know.
 * @throws ServiceError `access_denied` if the caller is not a member of the chosen one,
 *   `invalid_token` if the session has ended, `unavailable` if auth-sm is needed and away
 */
export async function organizationOf(deps: OrganizationDeps, caller: User): Promise<string | null> {
  return (await membershipFor(deps, caller))?.org_id ?? null;
}

/**
 * Refuses a request that chooses an organization of which the caller is not an active member.
 * @throws ServiceError `access_denied`, and as `organizationOf`
 */
export async function requireChosenOrganization(deps: OrganizationDeps, caller: User): Promise<void> {
  if (caller.orgId === undefined) return;
  requireActive(await membershipFor(deps, caller));
}

/**
 * The organization in which the caller may have vaults; null stands for none. The lock on the person
 * prevents a change.
 * @throws ServiceError `access_denied` if the caller is no active member, or an auditor
 */
export async function requireCreator(tx: Transaction, { userId }: User, orgId: string | null): Promise<string | null> {
  if (orgId === null) return null;
  const membership = requireActive(await findMembership(tx, userId, orgId));
  if (membership.role === "auditor") throw new ServiceError("access_denied", "auditors cannot have vaults");
  return orgId;
}

async function membershipFor(deps: OrganizationDeps, caller: User): Promise<KnownMembership | null> {
  const { userId, orgId } = caller;
  const known = await findMembership(deps.database.pool, userId, orgId);
  if (known !== null && !known.missing) return known;
  const answer = await askMembershipInSession(deps.bus, caller);
  if (answer.membership === null && orgId === undefined) return null;
  const membership = requireMember(answer.membership);
  await insertUnversioned(deps.database.pool, { userId, ...membership, now: deps.now() });
  const stored = await findMembership(deps.database.pool, userId, membership.org_id);
  // The copy has it as removed or missing: the member returned, and the event has not arrived yet.
  if (stored === null || stored.missing) await deps.memberships.refresh();
  return membership;
}

/**
 * Adds to an endpoint of one vault the check that the caller belongs to the chosen organization.
 */
export function inChosenOrganization<Row extends Route<Deps, User>>(row: Row): Row {
  return {
    ...row,
    run: async (deps, call) => {
      await requireChosenOrganization(deps, call.caller);
      return row.run(deps, call);
    },
  };
}
