import { ServiceError } from "@coffer/errors";

const hour = 60 * 60 * 1000;
const defaultLife = 24 * hour;
const longestLife = 7 * 24 * hour;

/**
 * When a one-time token expires: 24 hours from now, or as asked for.
 * @throws ServiceError `invalid_request` when that is not in the future, or more than 7 days away
 */
export function tokenExpiry(asked: string | undefined, now: Date): Date {
  if (asked === undefined) return new Date(now.getTime() + defaultLife);
  const expiresAt = new Date(asked);
  const life = expiresAt.getTime() - now.getTime();
  if (life <= 0) throw invalid("expires_at", "must be in the future");
  if (life > longestLife) throw invalid("expires_at", "must be at most 7 days from now");
  return expiresAt;
}

/**
 * When the client that a token makes expires: never, or as asked for.
 * @throws ServiceError `invalid_request` when that is not in the future
 */
export function clientExpiry(asked: string | undefined, now: Date): string | null {
  if (asked === undefined) return null;
  if (new Date(asked) <= now) throw invalid("client_expires_at", "must be in the future");
  return asked;
}

function invalid(field: string, issue: string): ServiceError {
  return new ServiceError("invalid_request", `${field} ${issue}`, { details: [{ field, issue }] });
}
