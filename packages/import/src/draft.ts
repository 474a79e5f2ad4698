import { customKindPrefix, customPrefix, recordTypePattern, uriKey } from "./record.ts";
import type { FieldKind, PlainRecord } from "./record.ts";

/**
 * Fields that a file of ours carries for formats which have no place of their own for them: what stands after the dot is
 * the record's own name of the field.
 */
export const ownPrefix = "coffer.";

/**
 * The custom field that says a record's own type. It does not begin as the names of fields do, so that it clashes with
 * none. Before there was this one it was `coffer.type`.
 */
export const typeMarker = "coffer:type";

/** Fields whose second value is hidden as the first one is. */
const secretKeys = ["password", "totp_secret", "private_key", "passphrase", "credential", "code", "number"];

/** A record that is being put together. Nothing that is put in twice replaces what was there. */
export interface Draft {
  /** A field with a meaning. Empty values are passed over; one that is taken makes the value a custom field. */
  set(key: string, value: string): void;
  /** A field that somebody named, or one that we wrote there for lack of a better place. */
  custom(label: string, value: string, kind?: FieldKind): void;
  /** One more address, with its rule of matching and what it is called; the same one with the same of both counts once. */
  addUri(uri: string, more?: { match?: string; label?: string }): void;
  has(key: string): boolean;
  /** The value of a field; undefined where there is none. */
  get(key: string): string | undefined;
  /** Whether there is anything beyond these keys. */
  holdsMoreThan(keys: readonly string[]): boolean;
  finish(): PlainRecord;
}

/** Begins a record. One without a name gets its first address's host, else its user's name. */
export function newDraft(type: string, name: string): Draft {
  const fields = new Map<string, string>();
  const uris = new Set<string>();
  /** How often a label was given; counting anew for each would take a file of a thousand equal ones too long. */
  const labels = new Map<string, number>();
  let nextUri = 0;
  let ownType: string | undefined;
  /** What `coffer.type` said, which is the type of a record where no `coffer:type` is, and else its field `type`. */
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
