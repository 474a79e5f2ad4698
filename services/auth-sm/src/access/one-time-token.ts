import { ServiceError } from "@coffer/errors";
import type { HeldToken, UsableToken } from "../store/machines/token-spending.ts";

/** The response and the audit reason of a refused bootstrap. */
export interface TokenRefusal {
  error: ServiceError;
  reason: string;
}

/** A one-time token that its caller may spend, or the refusal as a value, for its audit record. */
export function usableToken(token: HeldToken): UsableToken | TokenRefusal {
  if (token.used) return unknownToken("used");
  if (token.revoked) return unknownToken("revoked");
  if (token.expired) return unknownToken("expired");
  if (token.address_allowed) return token as UsableToken; // It has passed the checks.
  const error = new ServiceError("access_denied", "this one-time token may not be used from this address");
  return { error, reason: "address_not_allowed" };
}

/** The caller gets the same response for each `reason`. */
export function unknownToken(reason: string): TokenRefusal {
  const message = "the one-time token is not valid: it is unknown, used, revoked or expired";
  return { error: new ServiceError("invalid_token", message), reason };
}
