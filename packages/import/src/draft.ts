import {
  customKindPrefix,
  customPrefix,
  type FieldKind,
  type PlainRecord,
  recordTypePattern,
  uriKey,
} from "./record.ts";

/**
 * The prefix of our fields in formats without an equivalent. The record's own field name follows
 * the dot.
 */
export const ownPrefix = "coffer.";

/**
 * The custom field with a record's type. Its form differs from field names, so that it clashes with
 * none. Earlier versions used `coffer.type`.
 */
export const typeMarker = "coffer:type";

/** Fields whose further values are hidden too. */
const secretKeys = ["password", "totp_secret", "private_key", "passphrase", "credential", "code", "number"];

/** A record under construction. A second value never replaces the first. */
export interface Draft {
  /** Sets a known field. Ignores empty values; a second value becomes a custom field. */
  set(key: string, value: string): void;
  /** Adds a custom field of a person, or one of ours without an equivalent. */
  custom(label: string, value: string, kind?: FieldKind): void;
  /** Adds an address with its match rule and label. Exact duplicates are ignored. */
  addUri(uri: string, more?: { match?: string; label?: string }): void;
  has(key: string): boolean;
  /** The value of a field; undefined without one. */
  get(key: string): string | undefined;
  /** Whether there is any field besides these. */
  holdsMoreThan(keys: readonly string[]): boolean;
  finish(): PlainRecord;
}

/** Starts a record. Without a name it gets its first address's host, else its user name. */
export function newDraft(type: string, name: string): Draft {
  const fields = new Map<string, string>();
  const uris = new Set<string>();
  /**
   * The number of uses per label. Counting each time would make a file with a thousand equal labels
   * too slow.
   */
  const labels = new Map<string, number>();
  let nextUri = 0;
  let ownType: string | undefined;
  /**
   * The value of `coffer.type`: the record's type if there is no `coffer:type`, otherwise its field
   * `type`.
   */
  let typeOrField: string | undefined;

  const set = (key: string, value: string): void => {
    if (value === "") return;
    if (!fields.has(key)) fields.set(key, value);
    else if (fields.get(key) !== value) addCustom(key, value, secretKeys.includes(key) ? "hidden" : "text");
  };

  const addCustom = (label: string, value: string, kind: FieldKind): void => {
    const base = label === "" ? "field" : label;
    let number = (labels.get(base) ?? 0) + 1;
    const named = (): string => (number === 1 ? base : `${base} (${number})`);
    while (fields.has(customPrefix + named())) number++;
    labels.set(base, number);
    const name = named();
    fields.set(customPrefix + name, value);
    if (kind !== "text") fields.set(customKindPrefix + name, kind);
  };

  set("name", name);
  return {
    set,
    custom(label, value, kind = "text") {
      const own = label.startsWith(ownPrefix) ? label.slice(ownPrefix.length) : "";
      const isType = recordTypePattern.test(value);
      if (label === typeMarker && ownType === undefined && isType) ownType = value;
      else if (own === "type" && typeOrField === undefined && isType) typeOrField = value;
      else if (own !== "" && !fields.has(own)) fields.set(own, value);
      else addCustom(label, value, kind);
    },
    addUri(uri, { match = "", label = "" } = {}) {
      const whole = JSON.stringify([uri, match, label]);
      if (uri === "" || uris.has(whole)) return;
      uris.add(whole);
      while (fields.has(uriKey(nextUri))) nextUri++;
      fields.set(uriKey(nextUri), uri);
      if (match !== "") fields.set(`${uriKey(nextUri)}_match`, match);
      if (label !== "") fields.set(`${uriKey(nextUri)}_label`, label);
    },
    has: (key) => fields.has(key),
    get: (key) => fields.get(key),
    holdsMoreThan: (keys) => [...fields.keys()].some((key) => !keys.includes(key)),
    finish() {
      if (ownType !== undefined && typeOrField !== undefined && !fields.has("type")) fields.set("type", typeOrField);
      const { name: given, ...rest } = Object.fromEntries(fields);
      const payload = { name: given ?? nameFrom(rest), ...rest };
      return { type: ownType ?? typeOrField ?? type, payload };
    },
  };
}

function nameFrom(fields: Record<string, string>): string {
  const uri = fields["uri"] ?? "";
  const host = URL.parse(uri)?.hostname;
  return host || uri || fields["username"] || "(no name)";
}
