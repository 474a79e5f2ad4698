import type { Decision } from "../src/index.ts";

/** The limiter by its definition: stores every acceptance and counts. */
export interface Model {
  /** Takes `count` requests of one instant. Returns the decisions in some order. */
  take(key: string, limit: number, now: number, count: number): Decision[];
  /** All acceptance times of a key, oldest first. */
  accepted(key: string): readonly number[];
  keys(): Iterable<string>;
}

export function createModel(window: number): Model {
  const log = new Map<string, number[]>();

  function one(key: string, limit: number, now: number): Decision {
    const times = log.get(key) ?? [];
    log.set(key, times);
    const live = times.filter((time) => now - time < window);
    const seconds = (from: number): number => Math.ceil((from + window - now) / 1_000_000);
    if (live.length >= limit) {
      const wait = seconds(live.at(-limit) ?? now);
      return { accepted: false, limit, remaining: 0, resetSeconds: wait, retryAfterSeconds: wait };
    }
    times.push(now);
    const remaining = limit - live.length - 1;
    return { accepted: true, limit, remaining, resetSeconds: seconds(live[0] ?? now), retryAfterSeconds: 0 };
  }

  return {
    take: (key, limit, now, count) => Array.from({ length: count }, () => one(key, limit, now)),
    accepted: (key) => log.get(key) ?? [],
    keys: () => log.keys(),
  };
}

/** The largest number of acceptances in any window, of unordered times. */
export function mostInOneWindow(times: readonly number[], window: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  let first = 0;
  for (const [last, time] of sorted.entries()) {
    while (time - (sorted[first] ?? time) >= window) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
