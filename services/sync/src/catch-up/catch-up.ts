import type { Bus } from "@coffer/bus";
import { ServiceError } from "@coffer/errors";
import type { Logger } from "@coffer/telemetry";
import { closeCodes } from "../connections/close-codes.ts";
import { closeSlowly } from "../connections/close-slowly.ts";
import type { Connections } from "../connections/connections.ts";
import type { Timings } from "../timings.ts";
import type { CatchUpPage, CatchUpSource } from "./source.ts";

/**
 * Pushes changes whose events were missed: the bus was away, a message was lost, or the audience
 * was unknown.
 */
export interface CatchUp {
  /**
   * Resolves once the start of the catch-up is set; call it before a device's answer. Rejects while
   * the source is away, except for a source whose changes are in no answer: its start is then an
   * earlier moment, if there is one.
   */
  ready(): Promise<void>;
  /** Schedules a catch-up soon. */
  missed(): void;
  close(): void;
}

export interface CatchUpOptions {
  bus: Bus;
  source: CatchUpSource;
  connections: Connections;
  timings: Pick<Timings, "catchUp" | "catchUpRetry" | "startOver">;
  log: Logger;
}

/**
 * Catches up every 30 s, each replica at its own moment, and at once after each connection to the
 * bus.
 */
export function createCatchUp({ bus, source, connections, timings, log }: CatchUpOptions): CatchUp {
  // Everything up to here was pushed; null without connections, or before the first response.
  let caughtUpTo: string | null = null;
  // A moment before the first connection, for connections while the source is away.
  let earlier: string | null = null;
  // The page after the last one that was pushed, if a catch-up was interrupted.
  let nextPage: string | null = null;
  let starting: Promise<void> | undefined;
  let running: Promise<void> | undefined;
  const state = { again: false, closed: false, answered: true };
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Infinity;

  /** Schedules a run in `milliseconds`, unless an earlier one is scheduled. */
  function plan(milliseconds: number): void {
    const at = performance.now() + milliseconds;
    if (state.closed || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => void run(), milliseconds).unref();
  }

  async function begin(): Promise<void> {
    const { until } = await source.read(null, null);
    // An earlier start wins: devices rely on it.
    caughtUpTo ??= until;
  }

  async function push(since: string): Promise<void> {
    for (;;) {
      const page: CatchUpPage = await source.read(since, nextPage);
      if (page.reset) {
        log.warn({ about: source.about }, "recent changes are unknown: closing all connections for a full sync");
        void closeSlowly(connections, {
          code: closeCodes.restart,
          reason: "connect again",
          milliseconds: timings.startOver,
        });
        nextPage = null;
        caughtUpTo = page.until;
        return;
      }
      await page.push();
      nextPage = page.after;
      if (nextPage !== null) continue;
      caughtUpTo = page.until;
      return;
    }
  }

  async function runOnce(): Promise<boolean> {
    try {
      if (connections.size === 0) {
        caughtUpTo = nextPage = null;
        if (!source.inAnswers) earlier = (await source.read(null, null)).until;
      } else if (caughtUpTo === null) await begin();
      else await push(caughtUpTo);
      return true;
    } catch (error) {
      // The page may come from another version of the source.
      if (!(error instanceof ServiceError && error.code === "unavailable")) nextPage = null;
      log.debug({ err: error, about: source.about }, "catch-up failed");
      return false;
    }
  }

  async function runAll(): Promise<void> {
    while (state.again) {
      state.again = false;
      state.answered = await runOnce();
    }
    if (state.answered) source.rotate();
  }

  /** One run at a time: a call during a run repeats it. */
  async function run(): Promise<void> {
    state.again = true;
    if (running !== undefined || state.closed) return;
    clearTimeout(timer);
    dueAt = Infinity;
    running = runAll();
    await running;
    running = undefined;
    plan(state.answered ? timings.catchUp : timings.catchUpRetry);
  }

  plan(timings.catchUp * Math.random());
  bus.onConnect(run);

  const missed = (): void => {
    if (running === undefined) plan(timings.catchUpRetry);
  };
  const beginOnce = async (): Promise<void> => {
    starting ??= begin().finally(() => (starting = undefined));
    await starting;
  };
  async function beginIfAnswered(): Promise<void> {
    try {
      if (state.answered) await beginOnce();
    } catch {
      state.answered = false;
      missed();
    }
    caughtUpTo ??= earlier;
  }

  return {
    ready: async () => {
      if (caughtUpTo === null) await (source.inAnswers ? beginOnce() : beginIfAnswered());
    },
    missed,
    close: () => {
      state.closed = true;
      clearTimeout(timer);
    },
  };
}
