import { ServiceError } from "@coffer/errors";
import { momentOf } from "../moment.ts";

/**
 * Refuses a secret that would have expired when it is written.
 * @param expiresAt `expires_at` of the body, in the format of the columns
 * @throws ServiceError `invalid_request`
 */
export function requireLaterExpiry(expiresAt: string | null | undefined, now: Date): void {
  // Both have the same format, so text order is time order.
  if (expiresAt == null || expiresAt > momentOf(now)) return;
  const issue = "must be in the future";
  throw new ServiceError("invalid_request", `expires_at ${issue}`, { details: [{ field: "expires_at", issue }] });
}
