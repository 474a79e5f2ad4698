import { isErrorCode } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import { z } from "zod";

/** The payload limit; the server's own limit is 1 MiB. Larger data needs pages. */
export const maxPayloadBytes = 512 * 1024;

const failure = z.object({
  code: z.string(),
  message: z.string(),
  details: z.array(z.object({ field: z.string(), issue: z.string() })).optional(),
  retryAfterSeconds: z.number().optional(),
});
const answer = z.union([z.object({ error: failure }), z.object({ value: z.unknown() })]);

/** Separates the JSON from raw bytes: one-line JSON has no line feed. */
const lineFeed = Buffer.from("\n");

/** JSON as bytes, followed by `raw`. Throws `ServiceError` `payload_too_large` above 512 KiB. */
export function encode(value: unknown, raw?: Uint8Array): Uint8Array {
  const json = Buffer.from(JSON.stringify(value));
  const bytes = raw === undefined ? json : Buffer.concat([json, lineFeed, raw]);
  if (bytes.length > maxPayloadBytes) {
    const sizes = `${bytes.length} bytes, more than the ${maxPayloadBytes} of one message`;
    throw new ServiceError("payload_too_large", `the payload has ${sizes}: send it in pages`);
  }
  return bytes;
}

/** Throws `SyntaxError` for invalid JSON. */
export function decode(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
}

/** A reply with a result; its field `raw` follows the JSON as bytes. Throws as `encode`. */
export function encodeValue(value: unknown, raw?: string): Uint8Array {
  if (raw === undefined) return encode({ value });
  const { [raw]: bytes, ...rest } = value as Record<string, unknown>; // an object with this field, by its schema
  return encode({ value: rest }, bytes as Uint8Array); // and bytes, by the same
}

/** A reply with an error, without cause and stack. */
export function encodeError({ code, message, details, retryAfterSeconds }: ServiceError): Uint8Array {
  return encode({ error: { code, message, details, retryAfterSeconds } });
}

/**
 * The result of a reply; its field `raw` is a view of these bytes. Throws the `ServiceError` of the
 * reply, or `internal_error` for a malformed one.
 */
export function decodeAnswer(bytes: Uint8Array, raw?: string): unknown {
  const end = raw === undefined ? -1 : bytes.indexOf(lineFeed.readUInt8(0));
  const parsed = answer.safeParse(jsonOrNull(end < 0 ? bytes : bytes.subarray(0, end)));
  if (!parsed.success) throw new ServiceError("internal_error", "the response is malformed");
  if (!("error" in parsed.data)) {
    const { value } = parsed.data;
    return raw === undefined || end < 0 ? value : { ...(value as object), [raw]: bytes.subarray(end + 1) }; // checked next
  }
  const { code, message, details, retryAfterSeconds } = parsed.data.error;
  throw new ServiceError(isErrorCode(code) ? code : "internal_error", message, {
    ...(details === undefined ? {} : { details }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function jsonOrNull(bytes: Uint8Array): unknown {
  try {
    return decode(bytes);
  } catch {
    return null;
  }
}
