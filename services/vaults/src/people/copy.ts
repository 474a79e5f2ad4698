import { setTimeout as pause } from "node:timers/promises";
import type { Deps } from "../deps.ts";
import { reconcileMemberships } from "./reconcile.ts";

/** The copy of auth-sm's memberships, kept in step with it. */
export interface MembershipCopy {
  /**
   * Resolves when the copy has what auth-sm had when this was called: for whom somebody names who is not known here yet.
   * @throws ServiceError `unavailable`
   */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

const firstPauseMilliseconds = 200;
const longestPauseMilliseconds = 10_000;
/** Between two comparisons passes so many times what the last one took: whoever names strangers costs a share, not all. */
const restFactor = 4;

/** A change that was told and could not be kept, or a database of auth-sm that was restored, shows in a comparison alone. */
const anywayMilliseconds = 10 * 60_000;

/** Brings the copy up to date at each connection to the bus, until that succeeds, and from time to time. */
export function createMembershipCopy(
  deps: Pick<Deps, "bus" | "database" | "newId" | "now" | "telemetry">,
  { everyMilliseconds = anywayMilliseconds }: { everyMilliseconds?: number | undefined } = {},
): MembershipCopy {
  const { log } = deps.telemetry;
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let restUntil = 0;

  const rest = async (): Promise<void> => {
    const milliseconds = Math.min(longestPauseMilliseconds, restUntil - performance.now());
    if (milliseconds > 0) await pause(milliseconds, undefined, { signal: closing.signal }).catch(() => undefined);
  };
  const run = (): Promise<void> => {
    next = undefined;
    const started = performance.now();
    running = reconcileMemberships(deps).finally(() => {
      running = undefined;
      const ended = performance.now();
      restUntil = ended + restFactor * (ended - started);
    });
    return running;
  };

  /** One at a time; all who ask before the next one begins share it. */
  const refresh = (): Promise<void> =>
    (next ??= (running ?? Promise.resolve())
      .catch(() => undefined)
      .then(rest)
      .then(run));

  const catchUp = async (): Promise<void> => {
    for (
      let wait = firstPauseMilliseconds;
      !closing.signal.aborted;
      wait = Math.min(2 * wait, longestPauseMilliseconds)
    ) {
      try {
        await refresh();
        return;
      } catch (error) {
        if (wait === firstPauseMilliseconds) log.warn({ err: error }, "memberships could not be asked for");
      }
      await pause(wait, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  };

  deps.bus.onConnect(() => void catchUp());
  const anyway = setInterval(() => void refresh().catch(() => undefined), everyMilliseconds).unref();
  return {
    refresh,
    async close() {
      closing.abort();
      clearInterval(anyway);
      await (next ?? running)?.catch(() => undefined);
    },
  };
}
