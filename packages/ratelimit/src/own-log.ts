/** The times, in microseconds of the replica's own clock, at which requests were accepted here in the last window. */
export interface OwnLog {
  /** How many of a key are younger than the window at `now`. */
  count(key: string, now: number): number;
  /** Microseconds from `now` until the `nth` newest of a key has left the window; 0 when there are fewer. */
  wait(key: string, nth: number, now: number): number;
  add(key: string, at: number): void;
  /** Takes back one entry that was added with time `at`. */
  remove(key: string, at: number): void;
}

/**
 * A log of the last `window` microseconds that forgets by itself: what has not been touched for a whole window is
 * dropped with its generation, so that its size is bounded by what one process accepts in two windows.
 */
export function createOwnLog(window: number): OwnLog {
  let recent = new Map<string, number[]>();
  let older = new Map<string, number[]>();
  let turnAt = 0;

  function turn(now: number): void {
    if (now < turnAt) return;
    older = now < turnAt + window ? recent : new Map<string, number[]>();
    recent = new Map();
    turnAt = now + window;
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
      turn(at);
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
