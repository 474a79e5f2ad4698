import type { PlainRecord } from "./record.ts";

export type LeftOutKind = "item" | "attachment" | "history" | "field" | "setting";

/** A part of a file that is in no record, or of a record that is in no file. Contains no value. */
export interface LeftOut {
  kind: LeftOutKind;
  /** The item's name; null when it is about the file as a whole. */
  item: string | null;
  reason: string;
}

/** The result of reading a file. */
export interface Reading {
  records: PlainRecord[];
  leftOut: LeftOut[];
  /** Notes about the whole file, in sentences for a person. */
  notes: string[];
}

export function newReading({ leftOut = [], notes = [] }: Partial<Omit<Reading, "records">> = {}): Reading {
  return { records: [], leftOut: [...leftOut], notes: [...notes] };
}
