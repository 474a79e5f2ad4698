import type { Call } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import { userActor } from "../access/membership.ts";
import { requireProof } from "../accounts/require-proof.ts";
import { chainsOf } from "../accounts/user-events.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { askVaults } from "./ask-vaults.ts";
import { travelModeRecords } from "./audit.ts";
import type { OwnTravelMode } from "./bodies.ts";
import type { TravelMode } from "./show.ts";

type SwitchCall = Call<User, unknown, OwnTravelMode>;

/**
 * PUT /api/account/travel-mode: whoever holds an unlocked device can turn it on, and only who knows the password can turn
 * it off.
 * @throws ServiceError `unavailable` while vaults does not answer: the proof is not spent. It is then not done, unless what
 *   was lost is the answer; to do it again changes nothing.
 */
export async function switchOwnTravelMode(deps: Deps, call: SwitchCall): Promise<TravelMode> {
  if (call.body.enabled) return setOwn(deps, deps.database.pool, call);
  // May be asked again when the transaction is: of the same switch the second time changes nothing.
  return requireProof(deps, call, (tx) => setOwn(deps, tx, call));
}

async function setOwn(deps: Deps, db: Queryable, { caller, body, request }: SwitchCall): Promise<TravelMode> {
  const { userId } = caller;
  const { enabled } = body;
  const by = { userId, enabled, actor: userActor(caller), request };
  const audit = travelModeRecords(deps, by, await chainsOf(db, userId));
  return askVaults(deps, { userId, enabled, audit, caller });
}
