import { ServiceError } from "@coffer/errors";
import { type Actor, type AuthInput, bearerToken, chosenOrg } from "@coffer/http";
import type { Counter } from "@coffer/telemetry";
import { TokenRejection, type UserClaims } from "@coffer/tokens";
import { sessionEnded } from "./session-ended.ts";

/** A person with a valid access token whose session is not known to have ended. */
export interface User {
  kind: "user";
  userId: string;
  sessionId: string;
  /** The organization chosen by `X-Coffer-Org`; undefined means the oldest membership. */
  orgId: string | undefined;
}

/** The checks that identify a person. */
export interface UserChecks {
  /** Throws ServiceError `invalid_token`, caused by a TokenRejection. */
  verifyUser(token: string): Promise<UserClaims>;
  hasEnded(session: { userId: string; sessionId: string }): boolean | Promise<boolean>;
  /** Counts `user_<reason>` for a refused token, and `session_ended`. */
  authFailures: Counter<"reason">;
}

/**
 * Identifies the person who calls: verifies the access token, then checks that its session is
 * active.
 * @throws ServiceError `invalid_token`, and what the checks throw
 */
export async function identifyUser(
  { verifyUser, hasEnded, authFailures }: UserChecks,
  { authorization, headers }: AuthInput,
): Promise<User> {
  const token = bearerToken(authorization);
  const { userId, sessionId } = await verifyUser(token).catch((error: unknown) => {
    const cause = error instanceof ServiceError ? error.cause : undefined;
    if (cause instanceof TokenRejection) authFailures.inc({ reason: `user_${cause.reason}` });
    throw error;
  });
  if (await hasEnded({ userId, sessionId })) {
    authFailures.inc({ reason: "session_ended" });
    throw sessionEnded();
  }
  return { kind: "user", userId, sessionId, orgId: chosenOrg(headers["x-coffer-org"]) };
}

/** A person as the actor of an audit record. */
export function userActor(caller: User): Actor {
  return { type: "user", id: caller.userId, session_id: caller.sessionId };
}
