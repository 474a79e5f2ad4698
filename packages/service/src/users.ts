import type { Authenticate, AuthInput } from "@coffer/http";
import { followRevocations } from "./follow-revocations.ts";
import { sessionEnded } from "./session-ended.ts";
import type { StatelessBase } from "./stateless-base.ts";
import { identifyUser, type User } from "./user.ts";
import { createUserVerifier } from "./user-verifier.ts";

/** Identifies people in a service other than auth-sm. */
export interface Users {
  /** Throws ServiceError `invalid_token`; `unavailable` while revocations are unknown. */
  identify(input: AuthInput): Promise<User>;
  /**
   * Checks the session of an identified person again, before a commit that may have waited, and
   * returns it.
   * @throws ServiceError `invalid_token` if it has ended, `unavailable` while revocations are
   *   unknown
   */
  requireActiveSession<Session extends { sessionId: string }>(session: Session): Session;
  close(): void;
}

/** Verifies people's access tokens and follows revoked sessions. */
export function createUsers({
  bus,
  redis,
  config,
  authFailures,
  now,
}: Pick<StatelessBase, "bus" | "redis" | "config" | "authFailures" | "now">): Users {
  const verifyUser = createUserVerifier({ bus, config, now });
  const revocations = followRevocations(redis, bus, { lifetimeSeconds: config.COFFER_ACCESS_TOKEN_SECONDS, now });
  const hasEnded = ({ sessionId }: { sessionId: string }): boolean => revocations.isRevoked(sessionId);
  return {
    identify: (input) => identifyUser({ verifyUser, hasEnded, authFailures }, input),
    requireActiveSession: (session) => {
      if (hasEnded(session)) throw sessionEnded();
      return session;
    },
    close: () => revocations.close(),
  };
}

/** Identifies the person who calls, for the routes of a service with `users`. */
export const authenticateUser: Authenticate<User, { users: Users }> = (input, { users }) => users.identify(input);
