import { encodeBase64Url } from "./base64.ts";
import { toHex } from "./sha256.ts";

/**
 * A new `uid` of a secret: 22 base64url characters of 16 random bytes. It never starts with `-`,
 * like an option would.
 */
export function newSecretUid(): string {
  for (;;) {
    const uid = encodeBase64Url(crypto.getRandomValues(new Uint8Array(16)));
    if (!uid.startsWith("-")) return uid;
  }
}

/**
 * A new id of a vault, record, folder, client: UUIDv7 (RFC 9562), 48 bits of time and 74 of randomness.
 *
 * @param now milliseconds since 1970
 */
export function newId(now: number = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setUint32(0, Math.floor(now / 0x1_0000));
  new DataView(bytes.buffer).setUint16(4, now % 0x1_0000);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = toHex(bytes);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
