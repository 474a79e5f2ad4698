import type { SecretView } from "../views.ts";
import type { Caller } from "./secret-store.ts";

/** Whether a secret has expired, as the service says or by the clock of this device. */
function isExpired({ expired, expires_at }: SecretView, now: number): boolean {
  return expired === true || (typeof expires_at === "string" && Date.parse(expires_at) <= now);
}

/**
 * A stored list as it is now, in Unix milliseconds: the service may not have been requested since a
 * secret expired. The service shows a machine no expired secrets.
 */
export function presentViews(views: readonly SecretView[], now: number, caller: Caller): SecretView[] {
  return views.flatMap((view) => {
    if (!isExpired(view, now)) return [view];
    return caller === "person" ? [{ ...view, expired: true }] : [];
  });
}

/** Those that have not expired; all when every one has. */
export function preferPresent<Found>(found: readonly Found[], viewOf: (one: Found) => SecretView): readonly Found[] {
  const present = found.filter((one) => viewOf(one).expired !== true);
  return present.length > 0 ? present : found;
}
