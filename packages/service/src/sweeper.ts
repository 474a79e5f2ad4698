import type { Logger } from "@coffer/telemetry";

/** Work that is due again and again. */
export interface Sweep {
  everyMilliseconds: number;
  /** Does one batch; true when there may be more. What another replica is doing stays with that one. */
  batch: () => Promise<boolean>;
  /** Logged at the first of several failures. */
  failure: string;
}

export interface Sweeper {
  /** Sweeps at once; once more after the sweep under way. */
  nudge(): void;
  /** Ends after the batch under way. */
  close(): Promise<void>;
}

/** A replica that restarts more often than it sweeps would never do so. */
const firstWithinMilliseconds = 60_000;

/**
 * Sweeps on, one sweep at a time; one that fails (Postgres is away) is left to the next. The first comes within a minute,
 * not in all replicas at once.
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
