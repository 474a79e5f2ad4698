import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "@coffer/errors";
import type { Deps } from "../deps.ts";
import { reconcileMemberships } from "./reconcile.ts";

/** The copy of auth-sm's memberships. */
export interface MembershipCopy {
  /**
   * Resolves when the copy is at least as new as this call, for a person that the copy does not
   * know.
   * @throws ServiceError `unavailable`, also if auth-sm lists no membership at all
   */
  refresh(): Promise<void>;
  /** Reconciles soon, with retries: for a change that auth-sm has not confirmed. */
  catchUp(): void;
  close(): Promise<void>;
}

const firstPauseMilliseconds = 200;
const longestPauseMilliseconds = 10_000;
/** Pause after a reconciliation, in multiples of its duration: bounds the cost of unknown names. */
const restFactor = 4;

/** Finds changes that could not be stored, and restores of auth-sm's database. */
const periodMilliseconds = 10 * 60_000;

/** Reconciles the copy at each connection to the bus, with retries, and periodically. */
export function createMembershipCopy(
  deps: Pick<Deps, "bus" | "database" | "newId" | "now" | "telemetry">,
  { everyMilliseconds = periodMilliseconds }: { everyMilliseconds?: number | undefined } = {},
): MembershipCopy {
  const { log } = deps.telemetry;
  const checkListing = createListingCheck(deps);
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
      .then(checkListing)
      .finally(() => {
        running = undefined;
        const ended = performance.now();
        restUntil = ended + restFactor * (ended - started);
      });
    return running;
  };

  /** One at a time; all callers before the next one begins share it. */
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
  /**
   * Retries until a reconciliation succeeds that began after the last call; a new call ends the
   * pause.
   */
  const untilCaughtUp = async (): Promise<void> => {
    catching = true;
    let wait = firstPauseMilliseconds;
    for (let done = 0, logged = false; done !== wanted && !closing.signal.aborted;) {
      const goal = wanted;
      try {
        await refresh();
        done = goal;
      } catch (error) {
        if (!logged) log.warn({ err: error }, "memberships could not be requested from auth-sm");
        logged = true;
        if (goal === wanted) {
          pausing = new AbortController();
          const signal = AbortSignal.any([closing.signal, pausing.signal]);
          await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
        }
        wait = goal === wanted ? Math.min(2 * wait, longestPauseMilliseconds) : firstPauseMilliseconds;
      }
    }
    catching = false;
  };

  deps.bus.onConnect(catchUp);
  const timer = setInterval(catchUp, everyMilliseconds).unref();
  return {
    refresh,
    catchUp,
    async close() {
      closing.abort();
      clearInterval(timer);
      await (next ?? running)?.catch(() => undefined);
    },
  };
}

/**
 * Reports an empty listing of auth-sm: once in the log, in a metric while it lasts, and as an
 * error.
 */
function createListingCheck({ telemetry }: Pick<Deps, "telemetry">): (trusted: boolean) => void {
  const { log, metrics } = telemetry;
  const distrusted = metrics.gauge(
    "coffer_memberships_disbelieved",
    "1 while auth-sm lists no membership although the copy has some: the copy is then not changed",
  );
  distrusted.set(0);
  let logged = false;
  return (trusted) => {
    distrusted.set(trusted ? 0 : 1);
    if (!trusted && !logged)
      log.error("auth-sm lists no membership although the copy has some: is its database the right one?");
    logged = !trusted;
    if (!trusted) throw new ServiceError("unavailable", "auth-sm does not list memberships that it sent before");
  };
}
