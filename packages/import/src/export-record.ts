import type { PlainRecord } from "./record.ts";

/** A record to write into a file. */
export interface ExportRecord extends PlainRecord {
  /** A UUID. */
  id: string;
}
