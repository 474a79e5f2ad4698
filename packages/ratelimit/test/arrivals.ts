import { window } from "./limiters.ts";

/**
 * The time of the next request in microseconds, never before `now`: now, soon, later, or close to the
 * time at which an acceptance of `earlier` leaves the window.
 */
export function nextArrival(random: () => number, now: number, earlier: readonly number[]): number {
  const kind = random();
  if (kind < 0.2) return now;
  if (kind < 0.5 && earlier.length > 0) {
    const time = earlier[Math.floor(random() * earlier.length)] ?? now;
    return Math.max(now, time + window + Math.floor(random() * 3) - 1);
  }
  return now + Math.floor(random() ** 4 * window);
}
