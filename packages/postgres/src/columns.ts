import pg from "pg";

type ParseText = (text: string) => unknown;
/** The types of `pg` list only the built-in types. */
type GetParser = (typeId: number, format?: string) => ParseText;

const oid = { int8: 20, date: 1082, timestamp: 1114, timestamptz: 1184, interval: 1186 } as const;
const arrayOid = { int8: 1016, date: 1182, timestamp: 1115, timestamptz: 1185 } as const;

const utc = /^(\d{4,})-(\d\d)-(\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;

/**
 * Turns `2026-11-20 10:00:00.1234+00` (a session in UTC) into `2026-11-20T10:00:00.123400Z`. Text,
 * because a Date has milliseconds only. `infinity` stays; anything else throws a RangeError.
 */
export function isoTimestamp(text: string): string {
  const parts = utc.exec(text);
  if (parts === null) {
    if (text === "infinity" || text === "-infinity") return text;
    throw new RangeError("a timestamptz that ISO 8601 in UTC cannot express");
  }
  const [, year, month, day, time, fraction = ""] = parts;
  return `${String(year)}-${String(month)}-${String(day)}T${String(time)}.${fraction.padEnd(6, "0")}Z`;
}

/** An int8 as a number. Throws a RangeError beyond 2^53 - 1: select such a column as text. */
export function exactNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError("an int8 beyond 2^53 - 1: select it as text");
  return value;
}

/** The parser of text[], whose elements are text or null, or arrays again. */
const parseTexts = (pg.types.getTypeParser as GetParser)(1009) as (text: string) => unknown[];

/** An array's elements by `parse`; null stays null. */
function arrayOf(parse: ParseText): ParseText {
  const each = (element: unknown): unknown =>
    Array.isArray(element) ? element.map(each) : typeof element === "string" ? parse(element) : element;
  return (text) => parseTexts(text).map(each);
}
const asText: ParseText = (text) => text;

const parsers = new Map<number, ParseText>([
  [oid.int8, exactNumber],
  [oid.timestamptz, isoTimestamp],
  [oid.timestamp, asText],
  [oid.date, asText],
  [oid.interval, asText],
  [arrayOid.int8, arrayOf(exactNumber)],
  [arrayOid.timestamptz, arrayOf(isoTimestamp)],
  [arrayOid.timestamp, arrayOf(asText)],
  [arrayOid.date, arrayOf(asText)],
]);

/**
 * Parses a column: timestamptz to ISO 8601 UTC text with microseconds, int8 to a number, numeric
 * and xid8 to text; everything else as `pg` does.
 */
export function parseColumn(typeId: number, format?: string): ParseText {
  const ours = format === "binary" ? undefined : parsers.get(typeId);
  return ours ?? (pg.types.getTypeParser as GetParser)(typeId, format);
}
