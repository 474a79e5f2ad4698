import { ServiceError } from "@coffer/errors";
import { membershipOf } from "@coffer/events";
import type { User } from "@coffer/service";
import type { Deps } from "../deps.ts";
import type { MembershipRow } from "../store/memberships.ts";
import { findMembership, insertUnversioned } from "../store/memberships.ts";

/** A membership, as far as it is known here or auth-sm says. */
type KnownMembership = Pick<MembershipRow, "org_id" | "status">;

type Asking = Pick<Deps, "bus" | "database" | "memberships" | "now">;

/**
 * The organization that a person's new vault belongs to: the chosen one (`X-Coffer-Org`), or the oldest membership; null
 * for somebody without any. What is not known here yet, or missing in auth-sm, is asked of it.
 * @throws ServiceError `access_denied` when the caller is no member of the one chosen, `invalid_token` when the session
 *   has ended, `unavailable` when auth-sm has to be asked and cannot be
 */
export async function organizationOf(deps: Asking, caller: User): Promise<string | null> {
  return (await membershipFor(deps, caller))?.org_id ?? null;
}

/**
 * Refuses a request that chooses an organization (`X-Coffer-Org`) of which the caller is no active member. One that
 * chooses none costs nothing.
 * @throws ServiceError `access_denied`, and as `organizationOf`
 */
export async function requireChosenOrganization(deps: Asking, caller: User): Promise<void> {
  if (caller.orgId === undefined) return;
  const membership = await membershipFor(deps, caller);
  if (membership?.status !== "active") {
    throw new ServiceError("access_denied", "your membership of this organization is suspended");
  }
}

async function membershipFor(deps: Asking, caller: User): Promise<KnownMembership | null> {
  const { userId, sessionId, orgId } = caller;
  const known = await findMembership(deps.database.pool, userId, orgId);
  if (known !== null && !known.missing) return known;
  const answer = await deps.bus.request(membershipOf, {
    user_id: userId,
    session_id: sessionId,
    ...(orgId === undefined ? {} : { org_id: orgId }),
  });
  if (!answer.session_active) throw new ServiceError("invalid_token", "the session has ended: log in again");
  const { membership } = answer;
  if (membership === null) {
    if (orgId === undefined) return null;
    throw new ServiceError("access_denied", "you are not a member of this organization");
  }
  await insertUnversioned(deps.database.pool, { userId, ...membership, now: deps.now() });
  const noted = await findMembership(deps.database.pool, userId, membership.org_id);
  // Known here as removed or missing, of which auth-sm has just said otherwise: who came back, before the word of it.
  if (noted === null || noted.missing) await deps.memberships.refresh();
  return membership;
}
