import type { Call } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import { userActor } from "@coffer/service";
import { requireProof } from "../accounts/require-proof.ts";
import { chainsOf } from "../accounts/user-events.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { requestSwitch } from "./request-switch.ts";
import { travelModeRecords } from "./audit.ts";
import type { OwnTravelMode } from "./bodies.ts";
import type { TravelMode } from "./show.ts";

type SwitchCall = Call<User, unknown, OwnTravelMode>;

/**
 * PUT /api/account/travel-mode
 * An unlocked device is enough to switch it on; switching it off needs the password.
 * @throws ServiceError `unavailable` while vaults does not answer. The proof is not consumed, and
 * the switch is not done unless only the response was lost; repeating it has no further effect.
 */
export async function switchOwnTravelMode(deps: Deps, call: SwitchCall): Promise<TravelMode> {
  if (call.body.enabled) return setOwn(deps, deps.database.pool, call);
  // A retried transaction repeats the request, which has no further effect.
  return requireProof(deps, call, (tx) => setOwn(deps, tx, call));
}

async function setOwn(deps: Deps, db: Queryable, { caller, body, request }: SwitchCall): Promise<TravelMode> {
  const { userId } = caller;
  const { enabled } = body;
  const by = { userId, enabled, actor: userActor(caller), request };
  const audit = travelModeRecords(deps, by, await chainsOf(db, userId));
  return requestSwitch(deps, { userId, enabled, audit, caller });
}
