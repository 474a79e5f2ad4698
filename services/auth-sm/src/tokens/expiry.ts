import { ServiceError } from "@coffer/errors";

const hour = 60 * 60 * 1000;
const defaultLife = 24 * hour;
const longestLife = 7 * 24 * hour;

/**
 * When a one-time token expires: after 24 hours, or at the requested time.
 * @throws ServiceError `invalid_request` when that is not in the future, or more than 7 days away
 */
export function tokenExpiry(requested: string | undefined, now: Date): Date {
  if (requested === undefined) return new Date(now.getTime() + defaultLife);
  const expiresAt = new Date(requested);
  const life = expiresAt.getTime() - now.getTime();
  if (life <= 0) throw invalid("expires_at", "must be in the future");
  if (life > longestLife) throw invalid("expires_at", "must be at most 7 days from now");
  return expiresAt;
}

/**
 * When the token's client expires: never, or at the requested time.
 * @throws ServiceError `invalid_request` when that is not in the future
 */
export function clientExpiry(requested: string | undefined, now: Date): string | null {
  if (requested === undefined) return null;
  if (new Date(requested) <= now) throw invalid("client_expires_at", "must be in the future");
  return requested;
}

function invalid(field: string, issue: string): ServiceError {
  return new ServiceError("invalid_request", `${field} ${issue}`, { details: [{ field, issue }] });
}
