/** The waits before the next attempts, in seconds; the last one is repeated. */
const waits = [1, 5, 30, 120, 600, 1_800, 3_600] as const;
/** A wait is longer by up to this part of it, so that endpoints of one receiver do not come back together. */
const jitter = 0.2;

/**
 * The wait after a number of consecutive failures, in milliseconds. A `Retry-After` of the receiver
 * replaces it.
 * @param random from 0 to 1
 */
export function waitAfter(
  failures: number,
  { retryAfterSeconds, random }: { retryAfterSeconds: number | undefined; random: number },
): number {
  const scheduled = waits[Math.min(failures, waits.length) - 1] ?? waits[0];
  return Math.round((retryAfterSeconds ?? scheduled) * 1_000 * (1 + jitter * random));
}
