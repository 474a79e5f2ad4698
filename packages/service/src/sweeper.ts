import type { Logger } from "@coffer/telemetry";

/** Periodic cleanup in batches. */
export interface Sweep {
  everyMilliseconds: number;
  /** Does one batch; true if there may be more. Skips rows that another replica has locked. */
  batch: () => Promise<boolean>;
  /** Logged at the first of consecutive failures. */
  failure: string;
}

export interface Sweeper {
  /** Sweeps now, or once more after the current sweep. */
  nudge(): void;
  /** Ends after the current batch. */
  close(): Promise<void>;
}

/** Without it, a replica that restarts often would never sweep. */
const firstWithinMilliseconds = 60_000;

/**
 * Sweeps periodically, one sweep at a time. The next sweep retries a failed one. The first comes
 * within a minute, at a random moment, so that replicas do not sweep together.
 */
export function startSweeper({ everyMilliseconds, batch, failure }: Sweep, log: Logger): Sweeper {
  let sweeping: Promise<void> | undefined;
  let nudges = 0;
  let failing = false;
  let closing = false;
  const sweep = async (): Promise<void> => {
    try {
      for (let begun = -1, more = true; (more || nudges !== begun) && !closing;) {
        begun = nudges;
        more = await batch();
      }
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, failure);
      failing = true;
    } finally {
      sweeping = undefined;
    }
  };
  const start = (): void => void (sweeping ??= sweep());
  const first = setTimeout(start, Math.random() * Math.min(everyMilliseconds, firstWithinMilliseconds));
  const timer = setInterval(start, everyMilliseconds);
  first.unref();
  timer.unref();
  return {
    nudge() {
      nudges += 1;
      if (!closing) start();
    },
    async close() {
      closing = true;
      clearTimeout(first);
      clearInterval(timer);
      await sweeping;
    },
  };
}
