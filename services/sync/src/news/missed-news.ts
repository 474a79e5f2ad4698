import type { Bus } from "@coffer/bus";
import { ServiceError } from "@coffer/errors";
import type { Logger } from "@coffer/telemetry";
import { closeCodes } from "../connections/close-codes.ts";
import { closeSlowly } from "../connections/close-slowly.ts";
import type { Connections } from "../connections/connections.ts";
import type { Timings } from "../timings.ts";
import type { NewsPart, NewsSource } from "./news-source.ts";

/** What events have not told, because the bus was away, a message was lost or nobody could be asked who may know. */
export interface MissedNews {
  /**
   * Resolves once it is noted from when on everything is told here: before that no device may be given an answer that
   * it takes for the whole. Rejects while that cannot be asked. Of what is in no answer it does not: whoever has just not
   * answered holds up nobody, and the moment is then one from before anybody was here, if there is any.
   */
  known(): Promise<void>;
  /** Something was missed: asks soon. */
  missed(): void;
  close(): void;
}

export interface MissedNewsOptions {
  bus: Bus;
  source: NewsSource;
  connections: Connections;
  timings: Pick<Timings, "news" | "newsAgain" | "startOver">;
  log: Logger;
}

/** Asks for all news every 30 s, each replica at its own moment, and at once when the bus is back. */
export function createMissedNews({ bus, source, connections, timings, log }: MissedNewsOptions): MissedNews {
  // Up to when everything was told here; null: since nobody is here, or nobody could be asked yet.
  let toldUntil: string | null = null;
  // A moment from before anybody was here, for those who come when nobody can be asked.
  let earlier: string | null = null;
  // How far what has happened since then was told, when telling it broke off.
  let toldThrough: string | null = null;
  let noting: Promise<void> | undefined;
  let asking: Promise<void> | undefined;
  const state = { again: false, closed: false, answered: true };
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Infinity;

  /** Asks in so many milliseconds, or earlier when that was planned. */
  function plan(milliseconds: number): void {
    const at = performance.now() + milliseconds;
    if (state.closed || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => void ask(), milliseconds).unref();
  }

  async function note(): Promise<void> {
    const { until } = await source.ask(null, null);
    // Whoever asked first has noted an earlier moment, and devices count on it.
    toldUntil ??= until;
  }

  async function tell(since: string): Promise<void> {
    for (;;) {
      const part: NewsPart = await source.ask(since, toldThrough);
      if (part.reset) {
        log.warn({ about: source.about }, "what has changed lately is not known: all connections start over");
        void closeSlowly(connections, {
          code: closeCodes.restart,
          reason: "connect again",
          milliseconds: timings.startOver,
        });
        toldThrough = null;
        toldUntil = part.until;
        return;
      }
      await part.tell();
      toldThrough = part.after;
      if (toldThrough !== null) continue;
      toldUntil = part.until;
      return;
    }
  }

  async function askOnce(): Promise<boolean> {
    try {
      if (connections.size === 0) {
        toldUntil = toldThrough = null;
        if (!source.inAnswers) earlier = (await source.ask(null, null)).until;
      } else if (toldUntil === null) await note();
      else await tell(toldUntil);
      return true;
    } catch (error) {
      // A place that another version gave may mean nothing to this one.
      if (!(error instanceof ServiceError && error.code === "unavailable")) toldThrough = null;
      log.debug({ err: error, about: source.about }, "missed news could not be asked for");
      return false;
    }
  }

  async function askAll(): Promise<void> {
    while (state.again) {
      state.again = false;
      state.answered = await askOnce();
    }
    if (state.answered) source.turn();
  }

  /** One question at a time: what is missed while one is under way is asked for after it. */
  async function ask(): Promise<void> {
    state.again = true;
    if (asking !== undefined || state.closed) return;
    clearTimeout(timer);
    dueAt = Infinity;
    asking = askAll();
    await asking;
    asking = undefined;
    plan(state.answered ? timings.news : timings.newsAgain);
  }

  plan(timings.news * Math.random());
  bus.onConnect(ask);

  const missed = (): void => {
    if (asking === undefined) plan(timings.newsAgain);
  };
  const noted = async (): Promise<void> => {
    noting ??= note().finally(() => (noting = undefined));
    await noting;
  };
  async function notedIfAnswered(): Promise<void> {
    try {
      if (state.answered) await noted();
    } catch {
      state.answered = false;
      missed();
    }
    toldUntil ??= earlier;
  }

  return {
    known: async () => {
      if (toldUntil === null) await (source.inAnswers ? noted() : notedIfAnswered());
    },
    missed,
    close: () => {
      state.closed = true;
      clearTimeout(timer);
    },
  };
}
