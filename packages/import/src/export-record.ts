import type { PlainRecord } from "./record.ts";

/** A record that is written into a file. */
export interface ExportRecord extends PlainRecord {
  /** A UUID. */
  id: string;
}
