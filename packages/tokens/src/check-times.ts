import type { RejectionReason } from "./token-rejection.ts";

/** The tolerance for an `iat` in the future. */
const futureSeconds = 60;

/**
 * Checks `iat`, `exp` and, where there is one, `nbf` of a token whose signature is good.
 * @param nowSeconds Unix seconds, with a fraction
 * @returns when it expires (Unix seconds), or why it is refused
 */
export function checkTimes(
  { iat, exp, nbf = iat }: Record<string, unknown>,
  { nowSeconds, longestSeconds }: { nowSeconds: number; longestSeconds: number },
): { expiresAt: number } | RejectionReason {
  if (!isTime(iat) || !isTime(exp) || !isTime(nbf) || exp <= iat) return "claims";
  if (exp - iat > longestSeconds) return "lifetime";
  if (Math.max(iat, nbf) > nowSeconds + futureSeconds) return "issued_in_future";
  if (exp <= nowSeconds) return "expired";
  return { expiresAt: exp };
}

/** Unix seconds as a JSON number that is exact: no fraction, and nothing beyond 2^53. */
function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
