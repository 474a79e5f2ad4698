import type { RedisClient } from "./connect-redis.ts";
import type { Store } from "./store.ts";
import { within } from "./within.ts";

const retryMilliseconds = 150;
const failuresBeforeReconnect = 5;

/** Whether Redis decides: a circuit breaker. */
export interface Link {
  /** True while Redis decides. */
  readonly up: boolean;
  /** Until then (local clock) Redis may lack entries of the last window. */
  readonly youngUntil: number;
  /** Reports a failed call: opens the circuit until a probe succeeds. */
  fail(): void;
  close(): void;
}

export interface LinkOptions {
  redis: RedisClient;
  store: Store;
  /** The local clock, microseconds. */
  clock: () => number;
  window: number;
  deadlineMilliseconds: number;
  /** Called with each change of `up`. */
  onChange: (up: boolean) => void;
}

/**
 * A circuit breaker of one connection. Opens at the first failure, so that at most one request
 * waits for an absent Redis; then it probes, and closes after a response.
 */
export function createLink({ redis, store, clock, window, deadlineMilliseconds, onChange }: LinkOptions): Link {
  let up = false;
  let youngUntil = 0;
  let failures = 0;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let probing = false;

  const isClosed = (): boolean => closed;

  function fail(): void {
    if (closed) return;
    if (up) {
      up = false;
      onChange(false);
      // Probes at once: Redis may only have been late.
      void probe();
    }
    retry ??= setTimeout(() => {
      retry = undefined;
      void probe();
    }, retryMilliseconds);
  }

  async function probe(): Promise<void> {
    if (closed || up || probing || redis.status !== "ready") return;
    probing = true;
    const age = await within(store.prepare(), deadlineMilliseconds);
    probing = false;
    if (isClosed()) return;
    if (age === undefined) {
      // Reconnects a connection that is open but does not respond.
      if (++failures % failuresBeforeReconnect === 0) redis.disconnect(true);
      fail();
      return;
    }
    failures = 0;
    youngUntil = clock() + window - age;
    up = true;
    onChange(true);
  }

  redis.on("ready", () => void probe());
  redis.on("close", fail);
  void probe();

  return {
    get up() {
      return up;
    },
    get youngUntil() {
      return youngUntil;
    },
    fail,
    close: () => {
      closed = true;
      clearTimeout(retry);
      redis.disconnect();
    },
  };
}
