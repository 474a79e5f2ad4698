import type { OwnLog } from "./own-log.ts";
import { createOwnLog } from "./own-log.ts";

/** What one process has accepted, by whichever of its limiters. */
export interface OwnCount {
  readonly log: OwnLog;
  /** Until when (the process's clock, microseconds) Redis does not know all that was accepted in the last window. */
  unknownUntil: number;
}

/** Makes the count that the limiters of one process share. */
export function createOwnCount(windowSeconds: number): OwnCount {
  return { log: createOwnLog(windowSeconds * 1_000_000), unknownUntil: 0 };
}
