import { type AuditDraft, setTravelMode } from "@coffer/events";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { TravelMode } from "./show.ts";

/** vaults applies the switch within this time or refuses it, however late the request arrives. */
const doneWithin = 6_000;
/**
 * Longer than `doneWithin`, by the possible difference of the clocks: the response must not be
 * missed.
 */
const timeoutMilliseconds = 8_000;

interface TravelSwitch {
  userId: string;
  enabled: boolean;
  audit: AuditDraft[];
  caller: User;
  /**
   * Since when a manager has had the right (ISO 8601). vaults refuses when the journey began
   * earlier.
   */
  standingSince?: string;
}

/**
 * Requests vaults, which stores the mode, to switch it and to store these audit records. Switching
 * twice has no further effect.
 * @throws ServiceError `access_denied` when the journey is older than `standingSince`;
 * `invalid_token` when the caller's session ends first; `unavailable` while vaults does not answer:
 * then the switch is not done and will not be, unless only the response was lost
 */
export function requestSwitch(
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
