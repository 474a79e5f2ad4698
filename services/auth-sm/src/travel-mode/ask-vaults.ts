import type { AuditDraft } from "@coffer/events";
import { setTravelMode } from "@coffer/events";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { TravelMode } from "./show.ts";

/** vaults does it within so long of being asked or not at all, whomever it waits for and however late it hears of it. */
const doneWithin = 6_000;
/** Longer than that, so that it is not done unheard: by as much as the clocks of both may differ. */
const timeoutMilliseconds = 8_000;

interface TravelSwitch {
  userId: string;
  enabled: boolean;
  audit: AuditDraft[];
  caller: User;
  /** Since when a manager has had the right (ISO 8601); vaults refuses when the journey began earlier. */
  standingSince?: string;
}

/**
 * Has vaults, which keeps the mode, turn it on or off, with these records.
 * @throws ServiceError `access_denied` when the journey is older than `standingSince`; `invalid_token` when the caller's session ends before it is done; `unavailable` while vaults does not
 *   answer. Then it is not done, and will not be, unless what was lost is the answer; to do it again changes nothing.
 */
export function askVaults(
  { bus, now }: Pick<Deps, "bus" | "now">,
  { userId, enabled, audit, caller, standingSince }: TravelSwitch,
): Promise<TravelMode> {
  const until = new Date(now().getTime() + doneWithin).toISOString();
  return bus.request(
    setTravelMode,
    { user_id: userId, enabled, audit, session_id: caller.sessionId, until, standing_since: standingSince },
    { timeoutMilliseconds },
  );
}
