import { encodeRecord } from "@coffer/crypto";
import type { RecordPayload } from "@coffer/crypto";

/** The most that a sealed record may have, in characters of base64. */
const longestSealed = 256 * 1024;
/** What sealing adds: a byte for the layout, the nonce, the tag. */
const sealing = 1 + 12 + 16;

/** Whether the service takes the record when it is sealed. */
export function fitsOneRecord(payload: RecordPayload): boolean {
  return Math.ceil((encodeRecord(payload).length + sealing) / 3) * 4 <= longestSealed;
}
