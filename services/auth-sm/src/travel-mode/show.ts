import { travelModeOf } from "@coffer/events";
import type { Call } from "@coffer/http";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";

/** A person's travel mode and when it last changed. vaults stores it. */
export interface TravelMode {
  enabled: boolean;
  updated_at: string;
}

/**
 * GET /api/account/travel-mode
 * @throws ServiceError `unavailable` while vaults does not answer
 */
export function showTravelMode(deps: Deps, { caller }: Call<User>): Promise<TravelMode> {
  return deps.bus.request(travelModeOf, { user_id: caller.userId });
}
