/** Between the beginnings of two connections. */
export const shortestMilliseconds = 1_000;
const longest = 30_000;

/**
 * Milliseconds to wait before the next connection: one second after the first failure in a row, doubling, thirty at
 * most. Without jitter, as the interface recommends: the service spreads what it closes itself.
 */
export function reconnectDelay(failures: number): number {
  return Math.min(shortestMilliseconds * 2 ** Math.max(failures - 1, 0), longest);
}
