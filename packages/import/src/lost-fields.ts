import type { ExportRecord } from "./export-record.ts";
import type { PlainRecord } from "./record.ts";
import type { LeftOut } from "./report.ts";

/** A format as the check needs it. */
export interface CheckedFormat {
  write(records: readonly ExportRecord[]): string;
  read(bytes: Uint8Array): readonly PlainRecord[];
  /** Why the format cannot hold this value of that field, where there is a reason that is known. */
  why(field: string, value: string): string | undefined;
  /** What another program makes of a value that comes back as it is. */
  odd?(field: string, value: string): string | undefined;
}

/** What of the records a file does not give back, and those that it can hold at all. */
export interface CheckedRecords {
  held: ExportRecord[];
  leftOut: LeftOut[];
}

/**
 * What a file does not give back: each record is written and read again, and every field that is not as it was is told.
 * So no field is lost silently, whatever a record holds. One of which no file can be made, or none that can be read, does
 * not come back at all, and is kept from spoiling the others' file. Fields without a value are nothing.
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
  const told = (kind: LeftOut["kind"], reason: string): LeftOut => ({ kind, item: nameOf(record), reason });
  if (back === undefined || others.length > 0) return [told("item", "it does not come back as one record")];
  const [before, after] = [valuesOf(record), valuesOf(back)];
  const fields = [...new Set([...before.keys(), ...after.keys()])].flatMap((field) => {
    const value = before.get(field) ?? "";
    const reason =
      before.get(field) !== after.get(field)
        ? (why(field, value) ?? `"${field}" does not come back as it is`)
        : odd?.(field, value);
    return reason === undefined ? [] : [told("field", reason)];
  });
  return back.type === record.type ? fields : [told("field", "its type does not come back as it is"), ...fields];
}

function nameOf({ id, payload }: ExportRecord): string {
  return payload["name"] ?? id;
}

/** A map, because a field may be called anything, also what every object has. */
function valuesOf({ payload }: PlainRecord): Map<string, string> {
  return new Map(Object.entries(payload).filter(([, value]) => value !== ""));
}
