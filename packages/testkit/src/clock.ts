/** A clock that a test can stop and set. Until then it is the system's clock. */
export interface Clock {
  now(): Date;
  /** Stops the clock. */
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
