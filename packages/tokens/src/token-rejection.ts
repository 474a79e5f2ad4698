import { ServiceError } from "@coffer/errors";

/** Why a token was refused: for metrics and the audit, never for the caller. */
export type RejectionReason =
  | "malformed"
  | "algorithm"
  | "type"
  | "subject"
  | "unknown_client"
  | "unknown_key"
  | "signature"
  | "claims"
  | "audience"
  | "issued_in_future"
  | "lifetime"
  | "expired";

/**
 * The cause of an `invalid_token`. `clientId` is the existing client that the token names; the
 * signature may be another's.
 */
export class TokenRejection extends Error {
  readonly reason: RejectionReason;
  readonly clientId: string | undefined;

  constructor(reason: RejectionReason, clientId?: string) {
    super(`token refused: ${reason}`);
    this.name = "TokenRejection";
    this.reason = reason;
    this.clientId = clientId;
  }
}

/** The one response to every refused token: it does not disclose the failed check. */
export function invalidToken(reason: RejectionReason, clientId?: string): ServiceError {
  return new ServiceError("invalid_token", "the token is not valid: it is malformed, expired, revoked or not ours", {
    cause: new TokenRejection(reason, clientId),
  });
}
