import type { ExportRecord } from "./export-record.ts";
import type { PlainRecord } from "./record.ts";
import type { LeftOut } from "./report.ts";

/** A format, as the check needs it. */
export interface CheckedFormat {
  write(records: readonly ExportRecord[]): string;
  read(bytes: Uint8Array): readonly PlainRecord[];
  /** The reason why the format cannot hold this value, if it is known. */
  why(field: string, value: string): string | undefined;
  /** How another program shows a value that is preserved. */
  odd?(field: string, value: string): string | undefined;
}

/** The losses of a file, and the records that it can hold. */
export interface CheckedRecords {
  held: ExportRecord[];
  leftOut: LeftOut[];
}

/**
 * Finds what a file does not preserve: each record is written and read again, and every changed
 * field is reported. So no field is lost silently. A record that cannot be written or read back is
 * reported as a whole and left out of the file. Fields without a value are ignored.
 */
export function lostFields(records: readonly ExportRecord[], format: CheckedFormat): CheckedRecords {
  const checked: CheckedRecords = { held: [], leftOut: [] };
  for (const record of records) {
    const back = writtenAndRead(record, format);
    if (back === undefined)
      checked.leftOut.push({ kind: "item", item: nameOf(record), reason: "it does not come back" });
    else {
      checked.held.push(record);
      for (const each of changesOf(record, back, format)) checked.leftOut.push(each);
    }
  }
  return checked;
}

function writtenAndRead(record: ExportRecord, { write, read }: CheckedFormat): readonly PlainRecord[] | undefined {
  try {
    return read(new TextEncoder().encode(write([record])));
  } catch {
    return undefined;
  }
}

function changesOf(
  record: ExportRecord,
  [back, ...others]: readonly PlainRecord[],
  { why, odd }: CheckedFormat,
): LeftOut[] {
  const lost = (kind: LeftOut["kind"], reason: string): LeftOut => ({ kind, item: nameOf(record), reason });
  if (back === undefined || others.length > 0) return [lost("item", "it does not come back as one record")];
  const [before, after] = [valuesOf(record), valuesOf(back)];
  const fields = [...new Set([...before.keys(), ...after.keys()])].flatMap((field) => {
    const value = before.get(field) ?? "";
    const reason =
      before.get(field) !== after.get(field)
        ? (why(field, value) ?? `"${field}" does not come back as it is`)
        : odd?.(field, value);
    return reason === undefined ? [] : [lost("field", reason)];
  });
  return back.type === record.type ? fields : [lost("field", "its type does not come back as it is"), ...fields];
}

function nameOf({ id, payload }: ExportRecord): string {
  return payload["name"] ?? id;
}

/** A Map, because a field may have any name, also that of an object's built-in member. */
function valuesOf({ payload }: PlainRecord): Map<string, string> {
  return new Map(Object.entries(payload).filter(([, value]) => value !== ""));
}
