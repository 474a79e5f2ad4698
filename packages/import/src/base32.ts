const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Bytes as base32 (RFC 4648 §6) without padding, as secrets of one-time codes are written. */
export function encodeBase32(bytes: Uint8Array): string {
  let text = "";
  let [buffer, bits] = [0, 0];
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet[(buffer >> (bits - 5)) & 31] ?? "";
  }
  return bits === 0 ? text : text + (alphabet[(buffer << (5 - bits)) & 31] ?? "");
}
