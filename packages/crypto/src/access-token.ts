import { encodeBase64Url } from "./base64.ts";
import { CryptoError } from "./crypto-error.ts";
import { newKey } from "./keys.ts";
import { type OneTimeToken, seedIn, tokenOfSeed } from "./one-time-seed.ts";

/**
 * The prefix of the text that a person sees. The text contains the seed and must never go to the
 * server.
 */
export const accessTokenPrefix = "cft1_";

/**
 * A one-time access token of a machine: `wrapKey` seals each folder key for
 * `encrypted_folder_keys`.
 */
export type AccessToken = OneTimeToken;

/**
 * A new one-time access token, as the text that is shown once: `cft1_` and 43 base64url characters.
 */
export function newAccessToken(): string {
  return accessTokenPrefix + encodeBase64Url(newKey());
}

/**
 * Parses the text that a person was shown.
 * @throws CryptoError `invalid_access_token`
 */
export async function readAccessToken(text: string): Promise<AccessToken> {
  const seed = seedIn(text, accessTokenPrefix);
  if (seed !== undefined) return tokenOfSeed(seed, "ott");
  throw new CryptoError(
    "invalid_access_token",
    `not a one-time access token: it is ${accessTokenPrefix} and 43 characters of A-Z a-z 0-9 - _`,
  );
}
