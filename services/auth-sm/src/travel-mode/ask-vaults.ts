import type { AuditDraft } from "@coffer/events";
import { setTravelMode } from "@coffer/events";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { TravelMode } from "./show.ts";

/** vaults does it within six seconds or not at all, whomever it waits for: longer than that, so that it is not done unheard. */
const timeoutMilliseconds = 8_000;

/**
 * Has vaults, which keeps the mode, turn it on or off, with these records.
 * @throws ServiceError `invalid_token` when the caller's session ends before it is done; `unavailable` while vaults does not
 *   answer. When its answer is lost, it may be done all the same; to do it again changes nothing.
 */
export function askVaults(
  { bus }: Pick<Deps, "bus">,
  { userId, enabled, audit, caller }: { userId: string; enabled: boolean; audit: AuditDraft[]; caller: User },
): Promise<TravelMode> {
  return bus.request(
    setTravelMode,
    { user_id: userId, enabled, audit, session_id: caller.sessionId },
    { timeoutMilliseconds },
  );
}
