import { decodeBase64Url, encodeBase64Url } from "./base64.ts";
import { CryptoError } from "./crypto-error.ts";
import { derive } from "./derive.ts";
import { keyBytes, newKey } from "./keys.ts";
import { sha256Hex } from "./sha256.ts";
import { encodeText } from "./utf8.ts";

/** With what the text that a person is shown begins. It never goes to the server: the whole text holds the seed. */
export const accessTokenPrefix = "cft1_";

/** The two things that a one-time access token is made of, and what the server keeps of it. */
export interface AccessToken {
  /** The only part that is ever sent: `token` of the bootstrap request. */
  token: string;
  /** `token_hash`: hex SHA-256 of the characters of `token`. */
  tokenHash: string;
  /** Seals each folder key for `encrypted_folder_keys`. The server never has it. */
  wrapKey: Uint8Array<ArrayBuffer>;
}

/** A new one-time access token, as the text that is shown once: `cft1_` and 43 base64url characters. */
export function newAccessToken(): string {
  return accessTokenPrefix + encodeBase64Url(newKey());
}

/**
 * Takes apart the text that a person was shown.
 *
 * @throws CryptoError `invalid_access_token`
 */
export async function readAccessToken(text: string): Promise<AccessToken> {
  const seed = readSeed(text);
  const token = encodeBase64Url(await derive(seed, "coffer/ott/auth/v1"));
  return {
    token,
    tokenHash: await sha256Hex(encodeText(token)),
    wrapKey: await derive(seed, "coffer/ott/wrap/v1"),
  };
}

function readSeed(text: string): Uint8Array {
  if (text.startsWith(accessTokenPrefix)) {
    try {
      const seed = decodeBase64Url(text.slice(accessTokenPrefix.length));
      if (seed.length === keyBytes) return seed;
    } catch {
      // Falls through to the one message about the whole text.
    }
  }
  throw new CryptoError(
    "invalid_access_token",
    `not a one-time access token: it is ${accessTokenPrefix} and 43 characters of A-Z a-z 0-9 - _`,
  );
}
