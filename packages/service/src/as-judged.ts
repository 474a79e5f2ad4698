import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "@coffer/errors";

/** As long as a transaction waits for a lock. */
const patienceMilliseconds = 5_000;
const longestPauseMilliseconds = 100;

/**
 * Judges and writes until a write finds everything as it was judged. Whoever comes too late judges anew, so that the
 * answer is about what is there now.
 * @param attempt reads, judges (and may throw), writes; null when nothing was written because something has changed
 * @param busy what the caller is told when it went on changing
 * @throws ServiceError `unavailable` when it went on changing for 5 s, and what `attempt` throws.
 */
export async function asJudged<Result>(attempt: () => Promise<Result | null>, busy: string): Promise<Result> {
  const deadline = performance.now() + patienceMilliseconds;
  for (let wait = 1; ; wait = Math.min(2 * wait, longestPauseMilliseconds)) {
    const result = await attempt();
    if (result !== null) return result;
    if (performance.now() > deadline) throw new ServiceError("unavailable", busy, { retryAfterSeconds: 1 });
    // Of many who lost to one, not all come back at once.
    await pause(wait * Math.random());
  }
}
