import type { RecordPayload } from "@coffer/crypto";
import { ownPrefix, typeMarker } from "./draft.ts";
import { customKindPrefix, customPrefix } from "./record.ts";
import type { FieldKind, PlainRecord } from "./record.ts";

/** A field as formats with custom fields hold it. */
export interface ExtraField {
  label: string;
  value: string;
  kind: FieldKind;
}

const kinds: readonly FieldKind[] = ["text", "hidden", "boolean", "linked"];

/**
 * What a format has no place for, as custom fields: those that somebody named under that name, ours under `coffer.` and
 * the field's name, from which a Draft takes them again.
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

/** Whether the key only says what kind another field is, in a way that `ExtraField` holds. */
function isKindOf(key: string, payload: RecordPayload): boolean {
  if (!key.startsWith(customKindPrefix)) return false;
  const label = key.slice(customKindPrefix.length);
  const holds = payload[customPrefix + label] !== undefined && isName(label);
  return holds && kinds.some((kind) => kind === payload[key] && kind !== "text");
}

/** Whether a field can stand under that name, and is not taken for one of ours. */
function isName(label: string): boolean {
  return label !== "" && !label.startsWith(ownPrefix) && label !== typeMarker;
}

/**
 * Whether a record's type has to be said: where the format makes another one of it, or where a field is named `type`,
 * which would be taken for it.
 */
export function saysType({ type, payload }: PlainRecord, readAs: string): boolean {
  return type !== readAs || payload["type"] !== undefined;
}

/** The payload without fields that are held elsewhere. */
export function withoutKeys(payload: RecordPayload, keys: readonly string[]): RecordPayload {
  return Object.fromEntries(Object.entries(payload).filter(([key]) => !keys.includes(key)));
}
