import { ServiceError } from "@coffer/errors";
import type { AuthInput } from "@coffer/http";
import { bearerToken, chosenOrg } from "@coffer/http";
import type { Counter } from "@coffer/telemetry";
import type { UserClaims } from "@coffer/tokens";
import { TokenRejection } from "@coffer/tokens";
import { sessionEnded } from "./session-ended.ts";

/** A person whose access token is genuine and whose session has not ended, as far as is known here. */
export interface User {
  kind: "user";
  userId: string;
  sessionId: string;
  /** The organization chosen by `X-Coffer-Org`; undefined means the oldest membership. */
  orgId: string | undefined;
}

/** How a service finds out about a person. */
export interface UserChecks {
  /** Throws ServiceError `invalid_token`, caused by a TokenRejection. */
  verifyUser(token: string): Promise<UserClaims>;
  hasEnded(session: { userId: string; sessionId: string }): boolean | Promise<boolean>;
  /** Counts `user_…` by why the token was refused, and `session_ended`. */
  authFailures: Counter<"reason">;
}

/**
 * Which person calls: by the signature of the access token first, and then by whether its session lasts.
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
