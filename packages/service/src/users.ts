import { signingKeys } from "@coffer/events";
import type { Authenticate, AuthInput } from "@coffer/http";
import { createKeySet, verifyUserToken } from "@coffer/tokens";
import { hearRevocations } from "./hear-revocations.ts";
import type { ServiceBase } from "./service-base.ts";
import type { User } from "./user.ts";
import { identifyUser } from "./user.ts";

/** How a service other than auth-sm, whose people they are, knows who calls. */
export interface Users {
  /** Throws ServiceError `invalid_token`; `unavailable` while nobody here can know. */
  identify(input: AuthInput): Promise<User>;
  close(): void;
}

/** Verifies people's tokens by the keys that auth-sm tells over the bus, and hears which sessions have ended. */
export function createUsers({
  bus,
  redis,
  config,
  authFailures,
  now,
}: Pick<ServiceBase, "bus" | "redis" | "config" | "authFailures" | "now">): Users {
  const keySet = createKeySet(async () => (await bus.request(signingKeys, {})).keys);
  const [issuer = ""] = config.COFFER_BASE_URL;
  const verifyUser = verifyUserToken({ issuer, now, findKey: (kid) => keySet.find(kid) });
  const revocations = hearRevocations(redis, bus, { lifetimeSeconds: config.COFFER_ACCESS_TOKEN_SECONDS, now });
  const hasEnded = ({ sessionId }: { sessionId: string }): boolean => revocations.isRevoked(sessionId);
  return {
    identify: (input) => identifyUser({ verifyUser, hasEnded, authFailures }, input),
    close: () => revocations.close(),
  };
}

/** Finds out which person calls, for the rows of a service that has `users`. */
export const authenticateUser: Authenticate<User, { users: Users }> = (input, { users }) => users.identify(input);
