/** Between the beginnings of two connections. */
export const shortestMilliseconds = 1_000;
const longest = 30_000;
const crowdedMilliseconds = 300_000;

/**
 * Milliseconds to wait before the next connection: one second after the first failure in a row, doubling, thirty at
 * most. Without jitter, as the interface recommends: the service spreads what it closes itself.
 */
export function reconnectDelay(failures: number): number {
  return Math.min(shortestMilliseconds * 2 ** Math.max(failures - 1, 0), longest);
}

/**
 * Milliseconds to wait when the session or the user has too many connections: about five minutes. A connection that comes
 * back closes another one, whose device then comes back too; without a long wait they would do so without end. With
 * jitter, so that devices that were closed together come back apart.
 */
export function crowdedDelay(): number {
  return crowdedMilliseconds * (0.8 + Math.random() * 0.4);
}
