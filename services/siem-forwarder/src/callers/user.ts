import { ServiceError } from "@coffer/errors";
import type { Authenticate } from "@coffer/http";
import { bearerToken, chosenOrg } from "@coffer/http";
import { TokenRejection } from "@coffer/tokens";
import type { Deps } from "../deps.ts";

/** A person whose access token is genuine and whose session has not ended as far as is known here. */
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
  try {
    const { userId, sessionId } = await deps.verifyUser(token);
    deps.revocations.requireLive(sessionId);
    return { kind: "user", userId, sessionId, orgId: chosenOrg(headers["x-coffer-org"]) };
  } catch (error) {
    if (error instanceof ServiceError && error.cause instanceof TokenRejection)
      deps.authFailures.inc({ reason: error.cause.reason });
    throw error;
  }
};
