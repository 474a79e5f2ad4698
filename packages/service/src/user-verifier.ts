import { signingKeys } from "@coffer/events";
import { createKeySet, type UserClaims, verifyUserToken } from "@coffer/tokens";
import type { StatelessBase } from "./stateless-base.ts";

/**
 * Makes the verifier of people's access tokens; it requests the keys from auth-sm over the bus. It
 * throws ServiceError `invalid_token`, caused by a TokenRejection, or `unavailable` without the
 * key.
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
