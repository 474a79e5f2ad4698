/** Between the starts of two connections. */
export const shortestMilliseconds = 1_000;
const longest = 30_000;
const crowdedMilliseconds = 300_000;

/**
 * Milliseconds until the next connection: one second after the first consecutive failure, doubling,
 * at most thirty. Without jitter, as the interface recommends: the service spreads the connections
 * that it closes.
 */
export function reconnectDelay(failures: number): number {
  return Math.min(shortestMilliseconds * 2 ** Math.max(failures - 1, 0), longest);
}

/**
 * Milliseconds to wait when the session or the user has too many connections: about five minutes. A
 * returning connection closes another one, whose device then returns; a long wait limits that
 * cycle. With jitter, so that devices that were closed together do not return together.
 */
export function crowdedDelay(): number {
  return crowdedMilliseconds * (0.8 + Math.random() * 0.4);
}
