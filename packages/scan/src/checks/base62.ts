import { zlib } from "./builtin.ts";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** CRC32 of a text in seven digits of base36, as GitLab appends it to its routable tokens. */
export function crc32Base36(text: string): string {
  return zlib().crc32(text).toString(36).padStart(7, "0");
}

/** CRC32 of a text in six base62 digits, as GitHub and npm append it to their tokens. */
export function crc32Base62(text: string): string {
  let rest = zlib().crc32(text);
  let written = "";
  for (let index = 0; index < 6; index += 1) {
    written = `${digits.charAt(rest % 62)}${written}`;
    rest = Math.floor(rest / 62);
  }
  return written;
}

/** Whether the last six characters of a token's body are the checksum of those before. */
export function hasCrc32Base62(body: string): boolean {
  return crc32Base62(body.slice(0, -6)) === body.slice(-6);
}
