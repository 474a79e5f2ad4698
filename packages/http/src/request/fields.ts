import { ServiceError } from "@coffer/errors";
import { z } from "zod";
import { mostIssues } from "./most-issues.ts";
import { oversize } from "./oversize.ts";

/**
 * Non-empty base64 (RFC 4648 §4, with padding) of at most `kibibytes` KiB, else 413. Stays text.
 */
export function base64Text(kibibytes: number) {
  const most = kibibytes * 1024;
  return z.string().check((context) => {
    const { value } = context;
    if (value.length > most) context.issues.push({ ...oversize(`longer than ${kibibytes} KiB`), input: value });
    else if (!isBase64(value))
      context.issues.push({ code: "custom", message: "not base64 with padding, or empty", input: value });
  });
}

const base64Characters = /^[A-Za-z0-9+/]+={0,2}$/;

/** Whether a text that is not empty is base64 (RFC 4648 §4) with padding. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && base64Characters.test(text);
}

/** A compact JWE (RFC 7516) of at most `kibibytes` KiB, else 413. Checks only the form. */
export function compactJwe(kibibytes: number) {
  const most = kibibytes * 1024;
  return z.string().check((context) => {
    const { value } = context;
    if (value.length > most) context.issues.push({ ...oversize(`longer than ${kibibytes} KiB`), input: value });
    else if (!/^[\w-]+\.[\w-]*\.[\w-]+\.[\w-]*\.[\w-]+$/.test(value))
      context.issues.push({ code: "custom", message: "not a compact JWE", input: value });
  });
}

/** A compact JWS (RFC 7515) of at most `kibibytes` KiB, else 413. Checks only the form. */
export function compactJws(kibibytes: number) {
  const most = kibibytes * 1024;
  return z.string().check((context) => {
    const { value } = context;
    if (value.length > most) context.issues.push({ ...oversize(`longer than ${kibibytes} KiB`), input: value });
    else if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(value))
      context.issues.push({ code: "custom", message: "not a compact JWS", input: value });
  });
}

/** A name or title: 1 to `most` characters (code points), none of them a control character. */
export function nameText(most = 128) {
  return z.string().check((context) => {
    const { value } = context;
    const length = characters(value, most);
    if (length < 1 || length > most)
      context.issues.push({ code: "custom", message: `must have 1 to ${most} characters`, input: value });
    else if (!isPlain(value))
      context.issues.push({
        code: "custom",
        message: "must not hold control characters or broken Unicode",
        input: value,
      });
  });
}

// A character has at most two UTF-16 units: longer strings need no count.
function characters(text: string, most: number): number {
  if (text.length > 2 * most) return Number.POSITIVE_INFINITY;
  return Array.from(text).length;
}

// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const control = /[\u0000-\u001f\u007f-\u009f]/;

function isPlain(text: string): boolean {
  return text.isWellFormed() && !control.test(text);
}

/** A UUID with hyphens, in either case; normalized to lower case. */
export const uuidText = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "not a UUID");

/** A secret's identifier: 22 base64url characters, the first of them no hyphen. */
export const uidText = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/, "not 22 base64url characters");

/** Lower-case hexadecimal SHA-256. */
export const sha256Text = z.string().regex(/^[0-9a-f]{64}$/, "not a SHA-256 in lower-case hexadecimal");

/**
 * A timestamp that Postgres stores exactly: ISO 8601 in UTC (`Z`), from the year 1, up to
 * microseconds.
 */
export const timestampText = z.iso
  .datetime({ error: "not an ISO 8601 timestamp in UTC", abort: true })
  .regex(/^(?!0000)[^.]*(?:\.\d{1,6})?Z$/, "must be from the year 1 on, with at most 6 digits of a second");

const instantParts = /^([^.]+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/;

/**
 * An RFC 3339 timestamp with any offset, normalized to the format of columns and responses: UTC
 * with microseconds. Smaller fractions are cut off. Its year in UTC is 1 to 9999.
 */
export const instantText = z
  .string()
  .toUpperCase()
  .pipe(z.iso.datetime({ offset: true, error: "not an RFC 3339 timestamp" }))
  .transform((text, context) => {
    const [, seconds = "", fraction = "", offset = ""] = instantParts.exec(text) ?? [];
    const utc = new Date(`${seconds}${offset}`).toISOString().slice(0, -".000Z".length);
    if (/^\d{4}-/.test(utc) && !utc.startsWith("0000")) return `${utc}.${fraction.slice(0, 6).padEnd(6, "0")}Z`;
    context.issues.push({ code: "custom", message: "must be in the years 1 to 9999 in UTC", input: text });
    return z.NEVER;
  });

/** `limit` of a list's query: 1 to 1000. */
export const pageLimit = z
  .string()
  .regex(/^(?:[1-9][0-9]{0,2}|1000)$/, "must be a number from 1 to 1000")
  .transform(Number);

/** `cursor` of a list's query, as `next_cursor` gave it. */
export const cursorText = z.string().regex(/^[A-Za-z0-9_-]{1,512}$/, "not a cursor of this list");

/**
 * An object with keys of the caller's choice, at most `most`. Unlike `z.record` it refuses the key
 * `__proto__` instead of dropping it.
 */
export function namedValues<Value extends z.ZodType>(name: z.ZodType<string, string>, value: Value, most: number) {
  return z
    .custom<Record<string, unknown>>((input) => !hasPrototypeKey(input), "must not hold the key __proto__")
    .refine((input) => !hasMoreKeys(input, most), `must have at most ${most} entries`)
    .pipe(z.record(name, value));
}

function hasMoreKeys(input: unknown, most: number): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length > most;
}

function hasPrototypeKey(input: unknown): boolean {
  return typeof input === "object" && input !== null && Object.hasOwn(input, "__proto__");
}

/**
 * A list of at most `most` items. Checks the length first and stops after 20 issues, which bounds
 * the cost of a body with millions of wrong items.
 * @param over the error code for a longer list
 */
export function listOf<Item extends z.ZodType>(
  item: Item,
  most: number,
  over: "invalid_request" | "payload_too_large" = "invalid_request",
) {
  const described = {
    type: "array",
    get items() {
      return z.toJSONSchema(item, { io: "input", unrepresentable: "any" });
    },
  };
  const unchecked = z.unknown().meta(described);
  return unchecked.transform((input, context): z.output<Item>[] => {
    if (!Array.isArray(input)) {
      context.issues.push({ code: "invalid_type", expected: "array", input });
      return z.NEVER;
    }
    if (input.length > most) {
      const message = `must have at most ${most} items`;
      context.issues.push({
        ...(over === "payload_too_large" ? oversize(message) : { code: "custom", message }),
        input,
      });
      return z.NEVER;
    }
    const items: z.output<Item>[] = [];
    for (const [index, each] of input.entries()) {
      const { success, data, error } = item.safeParse(each);
      if (success) items.push(data);
      else
        for (const issue of error.issues)
          context.issues.push({ ...issue, path: [index, ...issue.path], input } as z.core.$ZodRawIssue); // zod's own issue
      if (context.issues.length >= mostIssues) break;
    }
    return context.issues.length === 0 ? items : z.NEVER;
  });
}

/** An opaque, URL-safe cursor in the format of `cursorText`. */
export function encodeCursor(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** @throws ServiceError `invalid_request` if the position does not match the schema */
export function decodeCursor<Position>(cursor: string, schema: z.ZodType<Position>): Position {
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch (cause) {
    throw new ServiceError("invalid_request", "the cursor is not from this list", { cause });
  }
}
