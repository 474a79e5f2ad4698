import type { Occurrence, Problem } from "@coffer/scan";

export interface ScanDocument {
  path: string;
  content: string;
  encoding?: "utf8" | "base64" | undefined;
}

/** The limits of the findings in a response. */
export interface Room {
  occurrences: number;
  /** Of the places and problems, with their paths. */
  bytes: number;
}

/** One request. */
export interface Job {
  documents: readonly ScanDocument[];
  diff: string | undefined;
  room: Room;
}

/** The findings of one document, or of the diff. */
export interface Part {
  occurrences: Occurrence[];
  problems: Problem[];
  inputs: number;
  bytes: number;
  /** Binary files that were not searched. */
  binary: number;
}

/** The findings of all documents and the diff. */
export type Outcome = Part;

/** The messages of a thread: one at its start, then during each job. */
export type Message = "ready" | { part: Part } | "done" | "no diff";
