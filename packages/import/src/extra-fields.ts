import type { RecordPayload } from "@coffer/crypto";
import { ownPrefix, typeMarker } from "./draft.ts";
import { customKindPrefix, customPrefix, type FieldKind, type PlainRecord } from "./record.ts";

/** A custom field of a format. */
export interface ExtraField {
  label: string;
  value: string;
  kind: FieldKind;
}

const kinds: readonly FieldKind[] = ["text", "hidden", "boolean", "linked"];

/**
 * Fields without an equivalent as custom fields: those of a person under their own names, ours with
 * the prefix `coffer.`, which a Draft recognizes.
 */
export function extraFields(payload: RecordPayload): ExtraField[] {
  const fields: ExtraField[] = [];
  for (const [key, value] of Object.entries(payload)) {
    const label = key.startsWith(customPrefix) ? key.slice(customPrefix.length) : "";
    const named = isName(label);
    const kind = named ? kinds.find((each) => each === payload[customKindPrefix + label]) : undefined;
    if (isKindOf(key, payload)) continue;
    fields.push({ label: named ? label : ownPrefix + key, value, kind: kind ?? "text" });
  }
  return fields;
}

/** Whether the key only holds the kind of another field, in a form that `ExtraField` supports. */
function isKindOf(key: string, payload: RecordPayload): boolean {
  if (!key.startsWith(customKindPrefix)) return false;
  const label = key.slice(customKindPrefix.length);
  const holds = payload[customPrefix + label] !== undefined && isName(label);
  return holds && kinds.some((kind) => kind === payload[key] && kind !== "text");
}

/** Whether a field can have that name without looking like one of ours. */
function isName(label: string): boolean {
  return label !== "" && !label.startsWith(ownPrefix) && label !== typeMarker;
}

/**
 * Whether a record's type must be written: the format would change it, or a field is named `type`,
 * which would look like it.
 */
export function saysType({ type, payload }: PlainRecord, readAs: string): boolean {
  return type !== readAs || payload["type"] !== undefined;
}

/** The payload without fields that are stored elsewhere. */
export function withoutKeys(payload: RecordPayload, keys: readonly string[]): RecordPayload {
  return Object.fromEntries(Object.entries(payload).filter(([key]) => !keys.includes(key)));
}
