import type { AuditedCall } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import { userActor } from "@coffer/service";
import { requireProof } from "../accounts/require-proof.ts";
import { chainsOf } from "../accounts/user-events.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { requestSwitch } from "./request-switch.ts";
import type { OwnTravelMode } from "./bodies.ts";
import type { TravelMode } from "./show.ts";

type SwitchCall = AuditedCall<User, unknown, OwnTravelMode>;

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

async function setOwn(deps: Deps, db: Queryable, call: SwitchCall): Promise<TravelMode> {
  const { caller, body } = call;
  const { userId } = caller;
  const { enabled } = body;
  const actor = userActor(caller);
  const audit = (await chainsOf(db, userId)).map((orgId) => call.audit({ orgId, actor }));
  return requestSwitch(deps, { userId, enabled, audit, caller });
}
