import type { PlainRecord } from "./record.ts";

/** What kind of thing was left out. */
export type LeftOutKind = "item" | "attachment" | "history" | "field" | "setting";

/** Something that a file holds and no record, or a record holds and no file. Never a value. */
export interface LeftOut {
  kind: LeftOutKind;
  /** The item's name; null when it is about the file as a whole. */
  item: string | null;
  reason: string;
}

/** What a reader collects while it goes through a file. */
export interface Reading {
  records: PlainRecord[];
  leftOut: LeftOut[];
  /** What was done to the file as a whole, in sentences for a person. */
  notes: string[];
}

/** A reading with no record in it yet, and what was found before there could be one. */
export function newReading({ leftOut = [], notes = [] }: Partial<Omit<Reading, "records">> = {}): Reading {
  return { records: [], leftOut: [...leftOut], notes: [...notes] };
}
