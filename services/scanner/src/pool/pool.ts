import { ServiceError } from "@coffer/errors";
import type { Job, Outcome } from "./job.ts";
import type { Entry, ScanMetrics } from "./metrics.ts";
import { startThread, type Thread } from "./thread.ts";

export interface PoolOptions {
  threads: number;
  /** How long one scan may take. */
  mostMilliseconds: number;
  /** How many scans may wait for a thread. */
  mostWaiting: number;
  /** The program of a thread. */
  program: URL;
}

/** Threads that scan, and the scans that wait for them. */
export interface Pool {
  /**
   * @throws ServiceError `unavailable` when too many scans wait, `invalid_request` for a diff that is none
   */
  scan(job: Job, entry: Entry): Promise<Outcome>;
  /** Throws what `scan` would throw now for want of room. */
  requireRoom(): void;
  /** Ends the threads when the last scan is done. */
  close(): Promise<void>;
}

interface Waiting {
  job: Job;
  entry: Entry;
  done(outcome: Promise<Outcome>): void;
}

const defaults = {
  mostMilliseconds: 10_000,
  mostWaiting: 64,
  program: new URL("./worker.ts", import.meta.url),
};

/** Starts a thread when there is work for it, and reuses it. */
export function createPool(metrics: ScanMetrics, given: Pick<PoolOptions, "threads"> & Partial<PoolOptions>): Pool {
  const { threads, mostWaiting, ...bounds } = { ...defaults, ...given };
  const waiting: Waiting[] = [];
  const idle: Thread[] = [];
  const unfinished = new Set<Promise<unknown>>();
  let busy = 0;
  let closing = false;

  const requireRoom = (): void => {
    if (!closing && waiting.length < mostWaiting) return;
    throw new ServiceError("unavailable", "too many scans are waiting: try again", { retryAfterSeconds: 1 });
  };
  const run = async ({ job, entry }: Waiting): Promise<Outcome> => {
    const thread = idle.pop() ?? startThread(bounds);
    const began = performance.now();
    try {
      return await thread.scan(job);
    } finally {
      metrics.seconds.observe((performance.now() - began) / 1000, { entry });
      if (thread.lives) idle.push(thread);
      busy -= 1;
      next();
    }
  };
  const next = (): void => {
    while (busy < threads) {
      const first = waiting.shift();
      if (first === undefined) break;
      busy += 1;
      first.done(run(first));
    }
    metrics.waiting.set(waiting.length);
  };
  const wait = (job: Job, entry: Entry): Promise<Outcome> => {
    const outcome = new Promise<Outcome>((done) => waiting.push({ job, entry, done }));
    next();
    return outcome;
  };

  return {
    requireRoom,
    async scan(job, entry) {
      try {
        requireRoom();
        const scanning = wait(job, entry);
        unfinished.add(scanning);
        const outcome = await scanning.finally(() => unfinished.delete(scanning));
        metrics.scans.inc({ entry, outcome: outcome.problems.length === 0 ? "complete" : "incomplete" });
        return outcome;
      } catch (error) {
        metrics.scans.inc({ entry, outcome: "refused" });
        throw error;
      }
    },
    async close() {
      closing = true;
      await Promise.allSettled(unfinished);
      await Promise.all(idle.map((thread) => thread.end()));
    },
  };
}
