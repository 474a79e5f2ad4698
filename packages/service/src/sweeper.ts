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
  /** Ends after the batch under way. */
  close(): Promise<void>;
}

/** Sweeps on, one sweep at a time; one that fails (Postgres is away) is left to the next. */
export function startSweeper({ everyMilliseconds, batch, failure }: Sweep, log: Logger): Sweeper {
  let sweeping: Promise<void> | undefined;
  let failing = false;
  let closing = false;
  const sweep = async (): Promise<void> => {
    try {
      while ((await batch()) && !closing);
      failing = false;
    } catch (error) {
      if (!failing) log.warn({ err: error }, failure);
      failing = true;
    } finally {
      sweeping = undefined;
    }
  };
  const timer = setInterval(() => void (sweeping ??= sweep()), everyMilliseconds);
  timer.unref();
  return {
    async close() {
      closing = true;
      clearInterval(timer);
      await sweeping;
    },
  };
}
