import type { Authenticate, AuthInput } from "@coffer/http";
import { hearRevocations } from "./hear-revocations.ts";
import { sessionEnded } from "./session-ended.ts";
import type { StatelessBase } from "./stateless-base.ts";
import type { User } from "./user.ts";
import { identifyUser } from "./user.ts";
import { createUserVerifier } from "./user-verifier.ts";

/** How a service other than auth-sm, whose people they are, knows who calls. */
export interface Users {
  /** Throws ServiceError `invalid_token`; `unavailable` while nobody here can know. */
  identify(input: AuthInput): Promise<User>;
  /**
   * Asks again whether the session of somebody who was identified lasts: for what has waited since.
   * @throws ServiceError `invalid_token` when it has ended, `unavailable` while nobody here can know
   */
  requireLasting(session: { sessionId: string }): void;
  close(): void;
}

/** Verifies people's tokens by the keys that auth-sm tells over the bus, and hears which sessions have ended. */
export function createUsers({
  bus,
  redis,
  config,
  authFailures,
  now,
}: Pick<StatelessBase, "bus" | "redis" | "config" | "authFailures" | "now">): Users {
  const verifyUser = createUserVerifier({ bus, config, now });
  const revocations = hearRevocations(redis, bus, { lifetimeSeconds: config.COFFER_ACCESS_TOKEN_SECONDS, now });
  const hasEnded = ({ sessionId }: { sessionId: string }): boolean => revocations.isRevoked(sessionId);
  return {
    identify: (input) => identifyUser({ verifyUser, hasEnded, authFailures }, input),
    requireLasting: (session) => {
      if (hasEnded(session)) throw sessionEnded();
    },
    close: () => revocations.close(),
  };
}

/** Finds out which person calls, for the rows of a service that has `users`. */
export const authenticateUser: Authenticate<User, { users: Users }> = (input, { users }) => users.identify(input);
