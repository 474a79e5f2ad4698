import type { RecordPayload } from "@coffer/crypto";

/** A record before its encryption: the result of one item of a file, or the source of one. */
export interface PlainRecord {
  /** In the form of the interface, for instance `login`. */
  type: string;
  payload: RecordPayload;
}

/** The form of a record's `type`. */
export const recordTypePattern = /^[a-z][a-z0-9_]{0,31}$/;

/** A custom field: `custom.<label>`. It clashes with no known field. */
export const customPrefix = "custom.";
/** The kind of a custom field, unless it is plain text: `custom_type.<label>`. */
export const customKindPrefix = "custom_type.";

/** `linked`: the value is the name of another field, whose value a program fills in. */
export type FieldKind = "text" | "hidden" | "boolean" | "linked";

/**
 * The key of an address: `uri`, `uri_2`, `uri_3` and so on. Its match rule is under `<key>_match`.
 */
export function uriKey(index: number): string {
  return index === 0 ? "uri" : `uri_${index + 1}`;
}

/** The addresses of a record with their match rules, in order. */
export function urisOf(payload: RecordPayload): { key: string; uri: string; match: string | undefined }[] {
  return Object.keys(payload)
    .filter((key) => /^uri(_[1-9]\d*)?$/.test(key))
    .sort((a, b) => uriNumber(a) - uriNumber(b))
    .map((key) => ({ key, uri: payload[key] ?? "", match: payload[`${key}_match`] }));
}

function uriNumber(key: string): number {
  return Number(key.slice("uri_".length) || 1);
}
