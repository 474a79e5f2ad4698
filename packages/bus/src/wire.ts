import { isErrorCode, ServiceError } from "@coffer/errors";
import { z } from "zod";

/** Payloads end here; the server's own limit is 1 MiB. What is larger goes in pages. */
export const maxPayloadBytes = 512 * 1024;

const failure = z.object({
  code: z.string(),
  message: z.string(),
  details: z.array(z.object({ field: z.string(), issue: z.string() })).optional(),
  retryAfterSeconds: z.number().optional(),
});
const answer = z.union([z.object({ error: failure }), z.object({ value: z.unknown() })]);

/** Ends the JSON of a payload with bytes behind it: JSON on one line has none. */
const lineFeed = Buffer.from("\n");

/** JSON as bytes, and behind it `raw`. Throws `ServiceError` `payload_too_large` above 512 KiB. */
export function encode(value: unknown, raw?: Uint8Array): Uint8Array {
  const json = Buffer.from(JSON.stringify(value));
  const bytes = raw === undefined ? json : Buffer.concat([json, lineFeed, raw]);
  if (bytes.length > maxPayloadBytes) {
    const sizes = `${bytes.length} bytes, more than the ${maxPayloadBytes} of one message`;
    throw new ServiceError("payload_too_large", `the payload has ${sizes}: send it in pages`);
  }
  return bytes;
}

/** The value in a message. Throws `SyntaxError` when it is not JSON. */
export function decode(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
}

/** A reply that carries a result, the field `raw` of it behind the rest. Throws as `encode` does. */
export function encodeValue(value: unknown, raw?: string): Uint8Array {
  if (raw === undefined) return encode({ value });
  const { [raw]: bytes, ...rest } = value as Record<string, unknown>; // an object with this field, by its schema
  return encode({ value: rest }, bytes as Uint8Array); // and bytes, by the same
}

/** A reply that carries an error. Cause and stack stay behind. */
export function encodeError({ code, message, details, retryAfterSeconds }: ServiceError): Uint8Array {
  return encode({ error: { code, message, details, retryAfterSeconds } });
}

/**
 * The result in a reply, its field `raw` a view of these bytes. Throws the `ServiceError` that it carries, or
 * `internal_error` when it is not a reply.
 */
export function decodeAnswer(bytes: Uint8Array, raw?: string): unknown {
  const end = raw === undefined ? -1 : bytes.indexOf(lineFeed.readUInt8(0));
  const parsed = answer.safeParse(jsonOrNull(end < 0 ? bytes : bytes.subarray(0, end)));
  if (!parsed.success) throw new ServiceError("internal_error", "the answer is not one");
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
