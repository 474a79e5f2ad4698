import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "@coffer/errors";

/** As long as the lock timeout of a transaction. */
const patienceMilliseconds = 5_000;
const longestPauseMilliseconds = 100;

/**
 * Optimistic concurrency: repeats `attempt` with growing pauses until it writes.
 * @param attempt reads, authorizes (may throw) and writes; null if a concurrent change prevented
 *   the write
 * @param busy the message of the error after 5 s of conflicts
 * @throws ServiceError `unavailable` after 5 s of conflicts, and what `attempt` throws
 */
export async function retryOnConflict<Result>(attempt: () => Promise<Result | null>, busy: string): Promise<Result> {
  const deadline = performance.now() + patienceMilliseconds;
  for (let wait = 1; ; wait = Math.min(2 * wait, longestPauseMilliseconds)) {
    const result = await attempt();
    if (result !== null) return result;
    if (performance.now() > deadline) throw new ServiceError("unavailable", busy, { retryAfterSeconds: 1 });
    // Jitter: attempts that lost to one write do not retry together.
    await pause(wait * Math.random());
  }
}
