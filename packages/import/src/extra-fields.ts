import type { RecordPayload } from "@coffer/crypto";
import { ownPrefix } from "./draft.ts";
import { customKindPrefix, customPrefix } from "./record.ts";
import type { FieldKind } from "./record.ts";

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
    const named = label !== "" && !label.startsWith(ownPrefix);
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
  const holds = payload[customPrefix + label] !== undefined && !label.startsWith(ownPrefix) && label !== "";
  return holds && kinds.some((kind) => kind === payload[key] && kind !== "text");
}

/** The payload without fields that are held elsewhere. */
export function withoutKeys(payload: RecordPayload, keys: readonly string[]): RecordPayload {
  return Object.fromEntries(Object.entries(payload).filter(([key]) => !keys.includes(key)));
}
