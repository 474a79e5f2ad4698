import type { RecordPayload } from "@coffer/crypto";

/** A record before it is encrypted: what one item of a file became, or what an item of a file is written from. */
export interface PlainRecord {
  /** As the service takes it, for instance `login`. */
  type: string;
  payload: RecordPayload;
}

/** What a record's `type` may be. */
export const recordTypePattern = /^[a-z][a-z0-9_]{0,31}$/;

/** A field that somebody named: `custom.<label>`. It clashes with none of the fields that have a meaning. */
export const customPrefix = "custom.";
/** What kind such a field is, where it is not plain text: `custom_type.<label>`. */
export const customKindPrefix = "custom_type.";

/** `linked`: the value is the name of another field, whose value a program fills in. */
export type FieldKind = "text" | "hidden" | "boolean" | "linked";

/** The key of an address: `uri`, `uri_2`, `uri_3` and so on; its rule of matching is under `<key>_match`. */
export function uriKey(index: number): string {
  return index === 0 ? "uri" : `uri_${index + 1}`;
}

/** The addresses of a record with their rules of matching, in order. */
export function urisOf(payload: RecordPayload): { key: string; uri: string; match: string | undefined }[] {
  return Object.keys(payload)
    .filter((key) => /^uri(_[1-9]\d*)?$/.test(key))
    .sort((a, b) => uriNumber(a) - uriNumber(b))
    .map((key) => ({ key, uri: payload[key] ?? "", match: payload[`${key}_match`] }));
}

function uriNumber(key: string): number {
  return Number(key.slice("uri_".length) || 1);
}
