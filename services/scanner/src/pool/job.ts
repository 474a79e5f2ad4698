import type { Occurrence, Problem } from "@coffer/scan";

export interface ScanDocument {
  path: string;
  content: string;
  encoding?: "utf8" | "base64" | undefined;
}

/** How much of what is found an answer holds. */
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

/** What was found in one document, or in the diff. */
export interface Part {
  occurrences: Occurrence[];
  problems: Problem[];
  inputs: number;
  bytes: number;
  /** Binary files that were not searched. */
  binary: number;
}

/** What was found in all of them. */
export type Outcome = Part;

/** What a thread says: once that it has started, and then while it does a job. */
export type Message = "ready" | { part: Part } | "done" | "no diff";
