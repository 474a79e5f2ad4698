import { decodeBase64 } from "@coffer/crypto";

/** From 0001-01-01 to 1970-01-01. */
const secondsBefore1970 = 62_135_596_800;

/**
 * A moment of an entry as ISO 8601. KeePass writes it so; KeePassXC writes what a database of KDBX 4 holds, the seconds
 * since the year 1 as 64 bits in base64. What is neither is returned as it is.
 */
export function readTime(text: string): string {
  if (!/^[\dA-Za-z+/]{10}[048AEIMQUYcgkosw]=$/.test(text)) return text;
  const bytes = decodeBase64(text);
  const seconds = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigInt64(0, true);
  const moment = new Date((Number(seconds) - secondsBefore1970) * 1000);
  return Number.isNaN(moment.getTime()) ? text : moment.toISOString().replace(".000Z", "Z");
}
