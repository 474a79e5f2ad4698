import { decodeBase64Url, encodeBase64Url } from "./base64.ts";
import { derive } from "./derive.ts";
import { keyBytes } from "./keys.ts";
import { sha256Hex } from "./sha256.ts";
import { encodeText } from "./utf8.ts";

/** The values that are derived from a one-time seed. */
export interface OneTimeToken {
  /** The only part that is ever sent. */
  token: string;
  /**
   * Hex SHA-256 of the characters of `token`: what the server stores, and the `tag` of the
   * invitation in a history.
   */
  tokenHash: string;
  /** Seals the values that come with the token. The server never has it. */
  wrapKey: Uint8Array<ArrayBuffer>;
}

/** Derives a token from its seed. `purpose` is part of the HKDF labels. */
export async function tokenOfSeed(seed: Uint8Array, purpose: "ott" | "invite"): Promise<OneTimeToken> {
  const token = encodeBase64Url(await derive(seed, `coffer/${purpose}/auth/v1`));
  return {
    token,
    tokenHash: await sha256Hex(encodeText(token)),
    wrapKey: await derive(seed, `coffer/${purpose}/wrap/v1`),
  };
}

/**
 * The seed in a text that a person was shown; undefined unless the text is the prefix and 43
 * base64url characters.
 */
export function seedIn(text: string, prefix: string): Uint8Array | undefined {
  if (!text.startsWith(prefix)) return undefined;
  try {
    const seed = decodeBase64Url(text.slice(prefix.length));
    return seed.length === keyBytes ? seed : undefined;
  } catch {
    return undefined;
  }
}
