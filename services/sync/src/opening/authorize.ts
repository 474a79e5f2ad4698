import { ServiceError } from "@coffer/errors";
import { TokenRejection, type UserClaims } from "@coffer/tokens";
import type { Deps } from "../deps.ts";
import { type CloseCode, closeCodes } from "../connections/close-codes.ts";

/** A close code for after the handshake: browsers do not see the status of a refused upgrade. */
export interface Rejection {
  readonly code: CloseCode;
  readonly reason: string;
}

const away: Rejection = { code: closeCodes.tryAgain, reason: "try again later" };

/**
 * Verifies the access token.
 * @throws ServiceError `invalid_token`
 */
export async function authorizeToken(
  { verifyUser, authFailures }: Pick<Deps, "verifyUser" | "authFailures">,
  token: string,
): Promise<UserClaims | Rejection> {
  try {
    return await verifyUser(token);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === "unavailable") return away;
    const { cause } = error;
    if (cause instanceof TokenRejection) authFailures.inc({ reason: `user_${cause.reason}` });
    if (cause instanceof TokenRejection && cause.reason === "expired")
      return { code: closeCodes.expired, reason: "the access token has expired" };
    throw error;
  }
}

/** Undefined if the session is active and the bus is connected. */
export function authorizeSession(
  { revocations, bus, authFailures }: Pick<Deps, "revocations" | "bus" | "authFailures">,
  sessionId: string,
): Rejection | undefined {
  try {
    if (!revocations.isRevoked(sessionId)) return bus.connected ? undefined : away;
    authFailures.inc({ reason: "session_ended" });
    return { code: closeCodes.expired, reason: "the session has ended" };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "unavailable") return away;
    throw error;
  }
}
