import { ServiceError } from "@coffer/errors";
import type { UserClaims } from "@coffer/tokens";
import { TokenRejection } from "@coffer/tokens";
import type { Deps } from "../deps.ts";
import type { CloseCode } from "../connections/close-codes.ts";
import { closeCodes } from "../connections/close-codes.ts";

/** Why a client is let in only to be told that it cannot stay: a browser sees no more of a refusal than that it was one. */
export interface TurnedAway {
  readonly code: CloseCode;
  readonly reason: string;
}

const away: TurnedAway = { code: closeCodes.tryAgain, reason: "try again later" };

/**
 * Whose token this is.
 * @throws ServiceError `invalid_token` when it is none of ours
 */
export async function judgeToken(
  { verifyUser, authFailures }: Pick<Deps, "verifyUser" | "authFailures">,
  token: string,
): Promise<UserClaims | TurnedAway> {
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

/** Whether the session lasts and all is there that a connection needs; undefined when it does. */
export function judgeSession(
  { revocations, bus, authFailures }: Pick<Deps, "revocations" | "bus" | "authFailures">,
  sessionId: string,
): TurnedAway | undefined {
  try {
    if (!revocations.isRevoked(sessionId)) return bus.connected ? undefined : away;
    authFailures.inc({ reason: "session_ended" });
    return { code: closeCodes.expired, reason: "the session has ended" };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "unavailable") return away;
    throw error;
  }
}
