import { permissions } from "@coffer/contract";
import { decodeBase64 } from "@coffer/crypto";

// The form of the claims, one rule for each. Every function returns the problem, or null.

type Rule = (value: unknown) => boolean;

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const hex64 = /^[0-9a-f]{64}$/;
// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const control = /[\u0000-\u001f\u007f-\u009f]/;
const emailAddress = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;
/**
 * An address in its canonical form, as accounts have it: trimmed, NFKC, lower case, at most 254
 * characters.
 */
const longestEmail = 254;
const longestName = 128;

const text =
  (pattern: RegExp): Rule =>
  (value) =>
    typeof value === "string" && pattern.test(value);

const isHash = text(hex64);
const isHolderId = text(new RegExp(`^(user|client):${uuid}$`));
const isDropped = text(new RegExp(`^((user|client):${uuid}|invite:[0-9a-f]{64})$`));
const isSignerId = text(new RegExp(`^(user:${uuid}|invite:[0-9a-f]{64})$`));
const isNumber = (least: number): Rule => {
  return (value) => Number.isSafeInteger(value) && Number(value) >= least;
};
const isPermission: Rule = (value) => (permissions as readonly unknown[]).includes(value);
const isBase64: Rule = (value) => typeof value === "string" && value.length > 0 && decodes(value);

/** Whether a history may name this e-mail: an address in its canonical form. */
export const isEmail = (value: unknown): value is string =>
  typeof value === "string" &&
  value.length <= longestEmail &&
  emailAddress.test(value) &&
  value === value.trim().normalize("NFKC").toLowerCase();

const isName: Rule = (value) =>
  typeof value === "string" &&
  value.length > 0 &&
  value.length <= 2 * longestName &&
  Array.from(value).length <= longestName &&
  value.isWellFormed() &&
  !control.test(value);

const isKey: Rule = (value) => typeof value === "string";

const holder = { who: isHolderId, key: isKey, perm: isPermission };
const invitation = {
  tag: isHash,
  kind: text(/^(user|client)$/),
  perm: isPermission,
  join_key: isKey,
  sealed: isBase64,
};
const claims = {
  res: text(new RegExp(`^(org|folder|vault):${uuid}$`)),
  seq: isNumber(0),
  prev: isPrev,
  by: isSignerId,
};
const optionalClaims: Record<string, Rule> = {
  org: text(new RegExp(`^${uuid}$`)),
  name: isName,
  set: listOf((value) => isObject(value, holder, { email: isEmail })),
  drop: listOf(isDropped),
  cut: isCut,
  invite: listOf((value) => isObject(value, invitation, { email: isEmail })),
  ver: isNumber(1),
  check: isHash,
};

/** The problem in the form of these claims; null when there is none. */
export function claimsProblem(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "its payload is not an object";
  const known: Record<string, Rule> = { ...claims, ...optionalClaims };
  for (const [name, member] of Object.entries(value)) {
    const rule = Object.hasOwn(known, name) ? known[name] : undefined;
    if (rule === undefined) return "it has a claim that entries do not have";
    if (!rule(member)) return `its claim ${name} is not of the right form`;
  }
  const missing = Object.keys(claims).find((name) => !Object.hasOwn(value, name));
  return missing === undefined ? null : `its claim ${missing} is missing`;
}

function isObject(value: unknown, required: Record<string, Rule>, optional: Record<string, Rule>): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const known = { ...required, ...optional };
  const names = Object.keys(value);
  return (
    Object.keys(required).every((name) => names.includes(name)) &&
    Object.entries(value).every(([name, member]) => Object.hasOwn(known, name) && known[name]?.(member) === true)
  );
}

/** A list that is absent when it would be empty. */
function listOf(rule: Rule): Rule {
  return (value) => Array.isArray(value) && value.length > 0 && value.every(rule);
}

function isPrev(value: unknown): boolean {
  return value === null || isHash(value);
}

function isCut(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([name, head]) =>
      isHash(name) && Array.isArray(head) && head.length === 2 && isNumber(0)(head[0]) && isHash(head[1]),
  );
}

function decodes(value: string): boolean {
  try {
    decodeBase64(value);
    return true;
  } catch {
    return false;
  }
}
