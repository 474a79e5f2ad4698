import { createOwnLog, type OwnLog } from "./own-log.ts";

/** The requests that one process has accepted. */
export interface OwnCount {
  readonly log: OwnLog;
  /** Until then (local clock, microseconds) Redis lacks entries of the last window. */
  unknownUntil: number;
}

export function createOwnCount(windowSeconds: number): OwnCount {
  return { log: createOwnLog(windowSeconds * 1_000_000), unknownUntil: 0 };
}
