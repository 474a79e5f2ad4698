/** A clock that a test can stop and set. It runs with the system's until then. */
export interface Clock {
  now(): Date;
  /** Stands still from now on. */
  stop(): void;
  advance(milliseconds: number): void;
}

export function createClock(): Clock {
  let stoppedAt: number | undefined;
  let ahead = 0;
  return {
    now: () => new Date((stoppedAt ?? Date.now()) + ahead),
    stop: () => void (stoppedAt = Date.now()),
    advance: (milliseconds) => void (ahead += milliseconds),
  };
}
