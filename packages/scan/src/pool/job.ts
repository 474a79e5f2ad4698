import type { Occurrence, Problem } from "../finding.ts";

/** Where the bytes of a job come from. */
export type Source =
  | { from: "file"; file: string }
  /** Part of a large file of plain text. */
  | { from: "piece"; file: string; start: number; end: number; size: number }
  | { from: "blob"; directory: string; oid: string }
  | { from: "bytes"; bytes: Uint8Array };

/** One thing to scan. */
export interface Job {
  source: Source;
  path: string;
  pathBelow?: string;
  commit?: string;
}

/** How all jobs are done. */
export interface JobSettings {
  compatibleComments: boolean;
  showSecrets: boolean;
  binary: boolean;
  /** Larger files and blobs are named and not scanned. 0 is no limit. */
  mostBytes: number;
}

export interface JobResult {
  occurrences: Occurrence[];
  problems: Problem[];
  /** Paths of binary files that were not searched. */
  binary: string[];
  bytes: number;
  /**
   * Of a piece: its line breaks, and the columns behind the last of them, for the positions in the
   * next one.
   */
  lines?: { breaks: number; columns: number };
}
