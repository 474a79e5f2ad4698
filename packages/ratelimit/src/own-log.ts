/** The times (local clock, microseconds) of requests that were accepted here in the last window. */
export interface OwnLog {
  /** The entries of a key within the window at `now`. */
  count(key: string, now: number): number;
  /**
   * Microseconds from `now` until the `nth` newest entry leaves the window; 0 if there are fewer.
   */
  wait(key: string, nth: number, now: number): number;
  add(key: string, at: number): void;
  /** Removes one entry with time `at`. */
  remove(key: string, at: number): void;
}

/**
 * A log of the last `window` microseconds. Keys without use for a window are dropped with their
 * generation, which bounds the size to the requests of two windows.
 */
export function createOwnLog(window: number): OwnLog {
  let recent = new Map<string, number[]>();
  let older = new Map<string, number[]>();
  let rotateAt = 0;

  function rotate(now: number): void {
    if (now < rotateAt) return;
    older = now < rotateAt + window ? recent : new Map<string, number[]>();
    recent = new Map();
    rotateAt = now + window;
  }

  /** The times of a key that are still in the window, oldest first. */
  function live(key: string, now: number): number[] | undefined {
    const times = recent.get(key) ?? older.get(key);
    while (times?.[0] !== undefined && now - times[0] >= window) times.shift();
    return times;
  }

  return {
    count: (key, now) => live(key, now)?.length ?? 0,
    wait: (key, nth, now) => {
      const time = live(key, now)?.at(-nth);
      return time === undefined ? 0 : time + window - now;
    },
    add: (key, at) => {
      rotate(at);
      const times = live(key, at) ?? [];
      times.push(at);
      recent.set(key, times);
    },
    remove: (key, at) => {
      const times = recent.get(key) ?? older.get(key);
      const index = times?.lastIndexOf(at) ?? -1;
      if (index !== -1) times?.splice(index, 1);
    },
  };
}
