import { signingKeys } from "@coffer/events";
import type { UserClaims } from "@coffer/tokens";
import { createKeySet, verifyUserToken } from "@coffer/tokens";
import type { StatelessBase } from "./stateless-base.ts";

/**
 * Makes the verifier of people's access tokens by the keys that auth-sm tells over the bus. It throws ServiceError
 * `invalid_token`, caused by a TokenRejection, and `unavailable` while the key cannot be asked for.
 */
export function createUserVerifier({
  bus,
  config,
  now,
}: Pick<StatelessBase, "bus" | "config" | "now">): (token: string) => Promise<UserClaims> {
  const keySet = createKeySet(async () => (await bus.request(signingKeys, {})).keys);
  const [issuer = ""] = config.COFFER_BASE_URL;
  return verifyUserToken({ issuer, now, findKey: (kid) => keySet.find(kid) });
}
