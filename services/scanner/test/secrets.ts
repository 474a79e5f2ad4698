import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

// Made when a test runs: nothing that looks live is committed.

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function base62(count: number): string {
  return [...randomBytes(count)].map((byte) => digits.charAt(byte % 62)).join("");
}

/** A personal token of a code host with a right checksum. */
export function personalToken(): string {
  const body = base62(30);
  let [sum, check] = [crc32(body), ""];
  for (; check.length < 6; sum = Math.floor(sum / 62)) check = digits.charAt(sum % 62) + check;
  return `ghp_${body}${check}`;
}
