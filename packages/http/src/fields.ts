import { z } from "zod";
import { mostIssues } from "./most-issues.ts";
import { oversize } from "./oversize.ts";

/**
 * Non-empty base64 (RFC 4648 §4, with padding) of at most `kibibytes` KiB as it is sent; over that the answer is 413.
 * Stays text: ciphertext is opaque.
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

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && base64Characters.test(text);
}

/**
 * A compact JWE (RFC 7516) of at most `kibibytes` KiB as it is sent, over that 413: how a key sealed to a public key
 * travels. Only its form is looked at.
 */
export function compactJwe(kibibytes: number) {
  const most = kibibytes * 1024;
  return z.string().check((context) => {
    const { value } = context;
    if (value.length > most) context.issues.push({ ...oversize(`longer than ${kibibytes} KiB`), input: value });
    else if (!/^[\w-]+\.[\w-]*\.[\w-]+\.[\w-]*\.[\w-]+$/.test(value))
      context.issues.push({ code: "custom", message: "not a compact JWE", input: value });
  });
}

/** A compact JWS (RFC 7515) of at most `kibibytes` KiB as it is sent, over that 413. Only its form is looked at. */
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

// A string has at most twice as many UTF-16 units as characters: longer ones need no counting.
function characters(text: string, most: number): number {
  if (text.length > 2 * most) return Number.POSITIVE_INFINITY;
  return Array.from(text).length;
}

// eslint-disable-next-line no-control-regex -- the rule is about control characters
const control = /[\u0000-\u001f\u007f-\u009f]/;

function isPlain(text: string): boolean {
  return text.isWellFormed() && !control.test(text);
}

/** A UUID with hyphens. It is the same in either case: taken in both, and from here on in lower case. */
export const uuidText = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "not a UUID");

/** A secret's identifier: 22 base64url characters, the first of them no hyphen. */
export const uidText = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/, "not 22 base64url characters");

/** Lower-case hexadecimal SHA-256. */
export const sha256Text = z.string().regex(/^[0-9a-f]{64}$/, "not a SHA-256 in lower-case hexadecimal");

/** A moment that Postgres can keep as it is: ISO 8601 in UTC (`Z`), from the year 1 on, up to microseconds. */
export const timestampText = z.iso
  .datetime({ error: "not an ISO 8601 timestamp in UTC", abort: true })
  .regex(/^(?!0000)[^.]*(?:\.\d{1,6})?Z$/, "must be from the year 1 on, with at most 6 digits of a second");

/** `limit` of a list's query: 1 to 1000. */
export const pageLimit = z
  .string()
  .regex(/^(?:[1-9][0-9]{0,2}|1000)$/, "must be a number from 1 to 1000")
  .transform(Number);

/** `cursor` of a list's query, as `next_cursor` gave it. */
export const cursorText = z.string().regex(/^[A-Za-z0-9_-]{1,512}$/, "not a cursor of this list");

/**
 * An object with names of the caller's choice: at most `most` entries, `name` for each key, `value` for each value.
 * Unlike `z.record` it refuses the key `__proto__` and does not drop it.
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
 * A list of at most `most` items. Checks its length before the first item, and stops after 20 issues: a body of
 * millions of wrong items costs what one of 20 costs.
 */
export function listOf<Item extends z.ZodType>(item: Item, most: number) {
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
      context.issues.push({ code: "custom", message: `must have at most ${most} items`, input });
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
