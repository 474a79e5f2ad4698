import { travelModeOf } from "@coffer/events";
import type { AuditedCall } from "@coffer/http";
import { managers, requireMembership } from "../access/membership.ts";
import { requireSwitchable } from "../access/traveller.ts";
import { chainsOf } from "../accounts/user-events.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { MemberPath } from "../members/bodies.ts";
import { findStanding } from "../store/organizations/members.ts";
import { requestSwitch } from "./request-switch.ts";
import type { MemberTravelMode } from "./bodies.ts";
import type { TravelMode } from "./show.ts";

type SwitchCall = AuditedCall<User, MemberPath, MemberTravelMode>;

/**
 * PUT /api/org/members/{user_id}/travel-mode An owner or admin switches a member's travel mode;
 * only an owner switches an owner's. A caller who switches off their own needs a proof, as in
 * `switchOwnTravelMode`. Each of the member's organizations gets an audit record. A running journey
 * can be changed only if the manager's role and the member's membership began before it. Otherwise
 * a thief with an unlocked device could join an accomplice's organization, whose owner would end
 * the journey without the password. vaults checks this under its lock on the person.
 * @throws ServiceError `unavailable` while vaults does not answer; `requestSwitch` says what is
 * done then
 */
export async function switchMembersTravelMode(deps: Deps, call: SwitchCall): Promise<TravelMode> {
  const { caller, params, body } = call;
  const { user_id: userId } = params;
  const { enabled } = body;
  const { orgId: chosen } = await requireMembership(deps.database.pool, caller, managers);
  // Before the transaction, so that none is held open while vaults is unavailable.
  await deps.bus.request(travelModeOf, { user_id: userId });
  return deps.database.transaction(async (tx) => {
    const { orgId: chosenOrgId, actor } = await requireSwitchable(
      tx,
      { ...caller, orgId: chosen },
      { userId, enabled },
    );
    const standingSince = await findStanding(tx, { orgId: chosenOrgId, managerId: caller.userId, memberId: userId });
    // One for each chain. vaults stores them with the mode, if the mode changes.
    const audit = (await chainsOf(tx, userId)).map((orgId) => call.audit({ orgId, actor }));
    return requestSwitch(deps, { userId, enabled, audit, caller, standingSince });
  });
}
