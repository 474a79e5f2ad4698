import type { Bus } from "@coffer/bus";
import { ServiceError } from "@coffer/errors";
import { membershipOf } from "@coffer/events";
import type { z } from "zod";
import { sessionEnded } from "./session-ended.ts";
import type { User } from "./user.ts";

type MembershipAnswer = z.output<typeof membershipOf.output>;

/**
 * Asks auth-sm in which organization a person acts: the chosen one (`X-Coffer-Org`), or the oldest
 * membership.
 * @throws ServiceError `unavailable` when auth-sm does not answer
 */
export function askMembership(bus: Bus, { userId, sessionId, orgId }: User): Promise<MembershipAnswer> {
  return bus.request(membershipOf, {
    user_id: userId,
    session_id: sessionId,
    ...(orgId === undefined ? {} : { org_id: orgId }),
  });
}

/**
 * As `askMembership`.
 * @throws ServiceError `invalid_token` when the session has ended
 */
export async function askMembershipInSession(bus: Bus, caller: User): Promise<MembershipAnswer> {
  const answer = await askMembership(bus, caller);
  if (!answer.session_active) throw sessionEnded();
  return answer;
}

/** @throws ServiceError `access_denied` when the person is no member */
export function requireMember<Membership>(membership: Membership | null): Membership {
  if (membership === null) throw new ServiceError("access_denied", "you are not a member of this organization");
  return membership;
}

/** @throws ServiceError `access_denied` when the person is no active member */
export function requireActive<Membership extends { status: string }>(membership: Membership | null): Membership {
  const present = requireMember(membership);
  if (present.status !== "active")
    throw new ServiceError("access_denied", "your membership of this organization is suspended");
  return present;
}
