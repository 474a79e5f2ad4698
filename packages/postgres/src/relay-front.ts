/** All rows are looked through at least so often, in milliseconds. */
export const wholeLookEach = 100;
/** So long after its turn, in milliseconds, a row is still found by every look. */
export const lateFor = 1_000;

/** Where a lane's looks into the outbox begin. */
export interface Front {
  /** The position to look from. */
  next(): number;
  /** Tells the positions of rows that are delivered. */
  passed(positions: readonly number[]): void;
}

/**
 * The rows that were there before are still passed by in the index, until Postgres cleans up, which may take a minute:
 * hundreds of looks a second would do little else. So most begin at what was taken a second ago, and whatever was committed
 * later than that, or is left by others, waits for the next look at all.
 * @param clock - milliseconds since whenever, never less than before
 */
export function createFront(clock: () => number = () => performance.now()): Front {
  let wholeAt = Number.NEGATIVE_INFINITY;
  let movedAt = clock();
  let [passed, before, begin] = [0, 0, 0];
  return {
    next() {
      const now = clock();
      if (now - movedAt >= lateFor) [begin, before, movedAt] = [before, passed, now];
      if (now - wholeAt < wholeLookEach) return begin;
      wholeAt = now;
      return 0;
    },
    passed(positions) {
      for (const position of positions) passed = Math.max(passed, position);
    },
  };
}
