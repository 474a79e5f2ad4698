import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import { findMember } from "../store/organizations/members.ts";
import { requireRankOver } from "./members.ts";
import { type ActiveMembership, managers, requireHeldMembership } from "./membership.ts";

/**
 * The right to switch a member's travel mode. Locks the memberships of caller and member until the
 * transaction ends.
 * @throws ServiceError `not_found`, `access_denied`; `reauth_required` for a caller who would end
 * their own travel mode; and what `requireHeldMembership` throws
 */
export async function requireSwitchable(
  tx: Transaction,
  caller: User,
  { userId, enabled }: { userId: string; enabled: boolean },
): Promise<ActiveMembership> {
  const membership = await requireHeldMembership(tx, caller, managers, [userId]);
  const found = await findMember(tx, membership.orgId, userId);
  if (found === null) throw new ServiceError("not_found", "member not found");
  const member = requireRankOver(membership.role, found);
  if (member.user_id === caller.userId && !enabled) {
    throw new ServiceError(
      "reauth_required",
      "to turn off your own travel mode prove your password: PUT /api/account/travel-mode",
    );
  }
  return membership;
}
