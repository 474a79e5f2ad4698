import { ServiceError } from "@coffer/errors";
import type { Authenticate } from "@coffer/http";
import { bearerToken, chosenOrg } from "@coffer/http";
import { TokenRejection } from "@coffer/tokens";
import type { Deps } from "../deps.ts";
import { sessionLasts } from "../store/sessions.ts";

/** A person whose access token is genuine and whose session has not ended. */
export interface User {
  kind: "user";
  userId: string;
  sessionId: string;
  /** The organization chosen by `X-Coffer-Org`; undefined means the oldest membership. */
  orgId: string | undefined;
}

/** Finds out which person calls: by the signature of the access token first, and then by whether its session lasts. */
export const authenticateUser: Authenticate<User, Deps> = async ({ authorization, headers }, deps) => {
  const token = bearerToken(authorization);
  const { userId, sessionId } = await deps.verifyUser(token).catch((error: unknown) => {
    const cause = error instanceof ServiceError ? error.cause : undefined;
    if (cause instanceof TokenRejection) deps.authFailures.inc({ reason: `user_${cause.reason}` });
    throw error;
  });
  if (!(await sessionLasts(deps.database, { userId, sessionId }, deps.now()))) {
    deps.authFailures.inc({ reason: "session_ended" });
    throw new ServiceError("invalid_token", "the session of this token has ended: log in again");
  }
  return { kind: "user", userId, sessionId, orgId: chosenOrg(headers["x-coffer-org"]) };
};
