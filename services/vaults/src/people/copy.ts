import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "@coffer/errors";
import type { Deps } from "../deps.ts";
import { reconcileMemberships } from "./reconcile.ts";

/** The copy of auth-sm's memberships, kept in step with it. */
export interface MembershipCopy {
  /**
   * Resolves when the copy has what auth-sm had when this was called: for whom somebody names who is not known here yet.
   * @throws ServiceError `unavailable`, also when auth-sm lists nobody and is not believed
   */
  refresh(): Promise<void>;
  /** Lets the same happen soon, tried until it succeeds: for what was kept without auth-sm's word. */
  catchUp(): void;
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
  const noteBelief = beliefIn(deps);
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
    running = reconcileMemberships(deps)
      .then(noteBelief)
      .finally(() => {
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

  let wanted = 0;
  let catching = false;
  let pausing = new AbortController();
  const catchUp = (): void => {
    wanted += 1;
    pausing.abort();
    if (!catching) void untilCaughtUp();
  };
  /** Until what was wanted last has been done after it was wanted; a new wish ends the pause. */
  const untilCaughtUp = async (): Promise<void> => {
    catching = true;
    let wait = firstPauseMilliseconds;
    for (let done = 0, said = false; done !== wanted && !closing.signal.aborted;) {
      const asked = wanted;
      try {
        await refresh();
        done = asked;
      } catch (error) {
        if (!said) log.warn({ err: error }, "memberships could not be asked for");
        said = true;
        if (asked === wanted) {
          pausing = new AbortController();
          const signal = AbortSignal.any([closing.signal, pausing.signal]);
          await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
        }
        wait = asked === wanted ? Math.min(2 * wait, longestPauseMilliseconds) : firstPauseMilliseconds;
      }
    }
    catching = false;
  };

  deps.bus.onConnect(catchUp);
  const anyway = setInterval(catchUp, everyMilliseconds).unref();
  return {
    refresh,
    catchUp,
    async close() {
      closing.abort();
      clearInterval(anyway);
      await (next ?? running)?.catch(() => undefined);
    },
  };
}

/** Says when auth-sm is not believed: once in the log, for as long as it lasts in a metric, and to who asked for more. */
function beliefIn({ telemetry }: Pick<Deps, "telemetry">): (believed: boolean) => void {
  const { log, metrics } = telemetry;
  const disbelieved = metrics.gauge(
    "coffer_memberships_disbelieved",
    "1 while auth-sm lists no membership at all though some are known here: nothing is changed by that",
  );
  disbelieved.set(0);
  let said = false;
  return (believed) => {
    disbelieved.set(believed ? 0 : 1);
    if (!believed && !said)
      log.error("auth-sm lists no membership at all though some are known here: is its database the right one?");
    said = !believed;
    if (!believed) throw new ServiceError("unavailable", "auth-sm does not list memberships that it has told of");
  };
}
