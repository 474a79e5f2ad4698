import type { ExportRecord } from "./export-record.ts";
import type { PlainRecord } from "./record.ts";
import type { LeftOut } from "./report.ts";

/** A format as the check needs it. */
export interface CheckedFormat {
  write(records: readonly ExportRecord[]): string;
  read(bytes: Uint8Array): readonly PlainRecord[];
  /** Why the format cannot hold this value of that field, where there is a reason that is known. */
  why(field: string, value: string): string | undefined;
}

/**
 * What a file does not give back: each record is written and read again, and every field that is not as it was is told.
 * So no field is lost silently, whatever a record holds. Fields without a value are nothing.
 */
export function lostFields(records: readonly ExportRecord[], { write, read, why }: CheckedFormat): LeftOut[] {
  const encoder = new TextEncoder();
  return records.flatMap((record) => {
    const [back, ...others] = read(encoder.encode(write([record])));
    const item = record.payload["name"] ?? record.id;
    const told = (kind: LeftOut["kind"], reason: string): LeftOut => ({ kind, item, reason });
    if (back === undefined || others.length > 0) return [told("item", "it does not come back as one record")];
    const [before, after] = [valuesOf(record), valuesOf(back)];
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (field) => before.get(field) !== after.get(field),
    );
    const fields = changed.map((field) =>
      told("field", why(field, before.get(field) ?? "") ?? `"${field}" does not come back as it is`),
    );
    return back.type === record.type ? fields : [told("field", "its type does not come back as it is"), ...fields];
  });
}

/** A map, because a field may be called anything, also what every object has. */
function valuesOf({ payload }: PlainRecord): Map<string, string> {
  return new Map(Object.entries(payload).filter(([, value]) => value !== ""));
}
