import { fromBase32 } from "./base32.ts";

/**
 * The account that an access key id names, in twelve digits. Undefined for a key of the older form,
 * whose fifth character is I or J.
 */
export function awsAccountOf(accessKeyId: string): string | undefined {
  if (/^.{4}[IJ]/.test(accessKeyId)) return undefined;
  const bytes = fromBase32(accessKeyId.slice(4));
  const number = [...bytes.subarray(0, 6)].reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  return String((number & 0x7fffffffff80n) >> 7n).padStart(12, "0");
}
