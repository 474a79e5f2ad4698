import { isDeepStrictEqual } from "node:util";
import { CaseFailure, shown } from "./failure.ts";

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Check = (value: unknown, wanted: unknown, where: string) => void;

/** The checks of `{"$name": …}` in a case. */
const checks: Record<string, Check> = {
  $type: (value, wanted, where) => must(typeOf(value) === wanted, where, `of type ${shown(wanted)}`, value),
  $timestamp: (value, _, where) =>
    must(
      typeof value === "string" && timestamp.test(value) && !Number.isNaN(Date.parse(value)),
      where,
      "a timestamp",
      value,
    ),
  $base64: (value, _, where) => must(typeof value === "string" && base64.test(value), where, "base64", value),
  $is_uuid: (value, _, where) => must(typeof value === "string" && uuid.test(value), where, "a UUID", value),
  $matches: (value, wanted, where) =>
    must(
      typeof value === "string" && new RegExp(String(wanted), "u").test(value),
      where,
      `like ${String(wanted)}`,
      value,
    ),
  $not: (value, wanted, where) => must(!isDeepStrictEqual(value, wanted), where, `other than ${shown(wanted)}`, value),
  $absent: (value, _, where) => must(value === undefined, where, "absent", value),
  $after: (value, wanted, where) =>
    must(typeof value === "string" && value > String(wanted), where, `later than ${shown(wanted)}`, value),
  $from: (value, wanted, where) => must(numberOf(value) >= Number(wanted), where, `at least ${shown(wanted)}`, value),
  $to: (value, wanted, where) => must(numberOf(value) <= Number(wanted), where, `at most ${shown(wanted)}`, value),
  $length: (value, wanted, where) =>
    must(Array.isArray(value) && value.length === wanted, where, `a list of ${shown(wanted)}`, value),
  $includes: (value, wanted, where) =>
    must(
      items(value).some((item) => holds(item, wanted)),
      where,
      `a list with ${shown(wanted)}`,
      value,
    ),
  $excludes: (value, wanted, where) =>
    must(
      Array.isArray(value) && !value.some((item) => holds(item, wanted)),
      where,
      `a list without ${shown(wanted)}`,
      value,
    ),
  $each: (value, wanted, where) => {
    must(Array.isArray(value), where, "a list", value);
    items(value).forEach((item, index) => match(item, wanted, `${where}[${index}]`));
  },
  $keys: (value, wanted, where) =>
    must(
      isObject(value) && isDeepStrictEqual(Object.keys(value).sort(), items(wanted).toSorted()),
      where,
      `an object with exactly ${shown(wanted)}`,
      value,
    ),
  $all: (value, wanted, where) => items(wanted).forEach((each) => match(value, each, where)),
};

/**
 * Compares a value with the expectation of a case: an object needs the named members and may have
 * more; a list must match item by item; `{"$check": …}` is one of the checks above; other values must
 * be equal. Throws CaseFailure.
 */
export function match(value: unknown, wanted: unknown, where: string): void {
  if (Array.isArray(wanted)) {
    must(Array.isArray(value) && value.length === wanted.length, where, shown(wanted), value);
    wanted.forEach((each, index) => match(items(value)[index], each, `${where}[${index}]`));
    return;
  }
  if (typeof wanted !== "object" || wanted === null) {
    must(value === wanted, where, shown(wanted), value);
    return;
  }
  const members = Object.entries(wanted);
  if (members.length > 0 && members.every(([name]) => name.startsWith("$"))) {
    for (const [name, argument] of members) {
      const check = checks[name];
      if (check === undefined) throw new TypeError(`${where}: there is no check ${name}`);
      check(value, argument, where);
    }
    return;
  }
  must(isObject(value), where, "an object", value);
  for (const [name, each] of members) match(value[name], each, `${where}.${name}`);
}

/** Whether a value matches. */
export function holds(value: unknown, wanted: unknown): boolean {
  try {
    match(value, wanted, "");
    return true;
  } catch (error) {
    if (error instanceof CaseFailure) return false;
    throw error;
  }
}

function must(holds: boolean, where: string, wanted: string, value: unknown): asserts holds {
  if (!holds) throw new CaseFailure(`${where} is ${shown(value)}, expected ${wanted}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A number, or one in a header. */
const numberOf = (value: unknown): number =>
  typeof value === "number" || (typeof value === "string" && value !== "") ? Number(value) : Number.NaN;

const items = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}
