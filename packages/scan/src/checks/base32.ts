const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 base32 in capital letters, without padding. */
export function toBase32(bytes: Uint8Array): string {
  let written = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      written += digits.charAt((held >>> bits) & 31);
    }
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? written : written + digits.charAt((held << (5 - bits)) & 31);
}

/** The bytes of base32 in capital letters. The text has no other characters. */
export function fromBase32(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((text.length * 5) / 8));
  let bits = 0;
  let held = 0;
  let length = 0;
  for (const sign of text) {
    held = (held << 5) | digits.indexOf(sign);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length] = (held >>> bits) & 0xff;
    length += 1;
    held &= (1 << bits) - 1;
  }
  return bytes;
}
