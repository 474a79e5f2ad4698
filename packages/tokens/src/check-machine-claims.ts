import type { RejectionReason } from "./token-rejection.ts";

/** Specification 5.2: `exp` is at most one hour after `iat`. */
const longestLifetimeSeconds = 3600;
/** How far a machine's clock may be ahead. */
const futureSeconds = 60;

/**
 * Judges the claims of a machine's token whose signature is good.
 * @param nowSeconds Unix seconds
 * @returns when it expires (Unix seconds), or why it is refused
 */
export function checkMachineClaims(
  claims: Record<string, unknown>,
  { nowSeconds, isAudience }: { nowSeconds: number; isAudience: (audience: string) => boolean },
): { expiresAt: number } | RejectionReason {
  const { aud, iat, exp, nbf } = claims;
  if (!isTime(iat) || !isTime(exp) || exp <= iat) return "claims";
  if (nbf !== undefined && (!isTime(nbf) || nbf > nowSeconds + futureSeconds)) return "claims";
  const named: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!named.some((each) => typeof each === "string" && isAudience(each))) return "audience";
  if (exp - iat > longestLifetimeSeconds) return "lifetime";
  if (iat > nowSeconds + futureSeconds) return "issued_in_future";
  if (exp <= nowSeconds) return "expired";
  return { expiresAt: exp };
}

/** Unix seconds as a JSON number that is exact: no fraction, and nothing beyond 2^53. */
function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
