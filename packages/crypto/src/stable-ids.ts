import { derive } from "./derive.ts";
import { requireKey } from "./keys.ts";
import { toHex } from "./sha256.ts";
import { encodeText } from "./utf8.ts";

/**
 * Ids that are derived from a key and texts: equal texts under one key have equal ids, so that a
 * repeated creation finds its objects. Without the key an id discloses nothing about the text, also
 * not by guessing: each is 122 bits of HMAC-SHA-256, under a key that HKDF derives, as a UUIDv8
 * (RFC 9562).
 * @throws CryptoError `invalid_key`; `invalid_input` for text with halves of surrogate pairs
 */
export async function stableIds(key: Uint8Array, texts: readonly string[]): Promise<string[]> {
  requireKey(key);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const secret = await derive(key, "coffer/v1/stable-id");
  const own = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  return Promise.all(
    texts.map(async (text) => {
      const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", own, encodeText(text))).slice(0, 16);
      bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
      bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
      const hex = toHex(bytes);
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
    }),
  );
}
