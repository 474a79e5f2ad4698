import { ServiceError } from "@coffer/errors";
import { travelModeOf } from "@coffer/events";
import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { requireRankOver } from "../access/members.ts";
import type { ActiveMembership } from "../access/membership.ts";
import { managers, requireHeldMembership, requireMembership } from "../access/membership.ts";
import { chainsOf } from "../accounts/user-events.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { MemberPath } from "../members/bodies.ts";
import { findMember, findStanding } from "../store/members.ts";
import { askVaults } from "./ask-vaults.ts";
import { travelModeRecords } from "./audit.ts";
import type { MemberTravelMode } from "./bodies.ts";
import type { TravelMode } from "./show.ts";

type SwitchCall = Call<User, MemberPath, MemberTravelMode>;

/**
 * PUT /api/org/members/{user_id}/travel-mode: an owner or admin turns a member's on or off, an owner's only an owner. To
 * turn off one's own takes the proof that the other way asks for. The record is in the chain of each of the member's
 * organizations.
 * A journey changes only for a manager whose role, and for a member whose membership, began before it: else a thief with an
 * unlocked device joins an accomplice's organization, whose owner ends the journey without the password. vaults compares,
 * under its lock on the person.
 * @throws ServiceError `unavailable` while vaults does not answer; what is done when its answer is lost is as there
 */
export async function switchMembersTravelMode(deps: Deps, call: SwitchCall): Promise<TravelMode> {
  const { caller, params, body, request } = call;
  const { user_id: userId } = params;
  const { enabled } = body;
  await requireMembership(deps.database.pool, caller, managers);
  // First without a transaction, so that none is held open for a vaults that is away.
  await deps.bus.request(travelModeOf, { user_id: userId });
  return deps.database.transaction(async (tx) => {
    const { orgId, actor } = await requireSwitchable(tx, call);
    const standingSince = await findStanding(tx, { orgId, managerId: caller.userId, memberId: userId });
    const audit = travelModeRecords(deps, { userId, enabled, actor, request }, await chainsOf(tx, userId));
    return askVaults(deps, { userId, enabled, audit, caller, standingSince });
  });
}

/** What caller and member are stays so until the transaction ends. */
async function requireSwitchable(tx: Transaction, { caller, params, body }: SwitchCall): Promise<ActiveMembership> {
  const membership = await requireHeldMembership(tx, caller, managers, [params.user_id]);
  const member = await findMember(tx, membership.orgId, params.user_id);
  if (member === null) throw new ServiceError("not_found", "member not found");
  requireRankOver(membership.role, member.role);
  if (member.user_id === caller.userId && !body.enabled) {
    throw new ServiceError(
      "reauth_required",
      "to turn off your own travel mode prove your password: PUT /api/account/travel-mode",
    );
  }
  return membership;
}
