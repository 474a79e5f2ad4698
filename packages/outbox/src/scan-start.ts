/** Interval of full scans. */
export const fullScanMilliseconds = 100;
/** Every scan still finds a row that commits this much after later positions. */
export const lateMilliseconds = 1_000;

/** Where a lane's scans of the outbox begin. */
export interface ScanStart {
  /** The position of the next scan. */
  next(): number;
  /** Records delivered positions. */
  passed(positions: readonly number[]): void;
}

/**
 * Deleted rows stay in the index until vacuum, up to a minute: scans from the start would mostly
 * skip dead rows. So most scans begin at the positions of a second ago. Full scans find later
 * commits of earlier positions, and rows of other relays.
 * @param clock - milliseconds, monotonic
 */
export function createScanStart(clock: () => number = () => performance.now()): ScanStart {
  let wholeAt = Number.NEGATIVE_INFINITY;
  let movedAt = clock();
  let [passed, before, begin] = [0, 0, 0];
  return {
    next() {
      const now = clock();
      if (now - movedAt >= lateMilliseconds) [begin, before, movedAt] = [before, passed, now];
      if (now - wholeAt < fullScanMilliseconds) return begin;
      wholeAt = now;
      return 0;
    },
    passed(positions) {
      for (const position of positions) passed = Math.max(passed, position);
    },
  };
}
