import type { Redis } from "ioredis";
import type { Store } from "./store.ts";
import { within } from "./within.ts";

const retryMilliseconds = 150;
const failuresBeforeReconnect = 5;

/** Whether Redis decides, and since when. */
export interface Link {
  /** True while Redis is asked. */
  readonly up: boolean;
  /** The time of the replica's clock until which Redis may not know all that was accepted in the last window. */
  readonly youngUntil: number;
  /** Notes that a question failed: from now on Redis is asked again only by the link itself. */
  fail(): void;
  close(): void;
}

export interface LinkOptions {
  redis: Redis;
  store: Store;
  /** The replica's own clock, microseconds. */
  clock: () => number;
  window: number;
  deadlineMilliseconds: number;
  /** Called with each change of `up`. */
  onChange: (up: boolean) => void;
}

/**
 * Watches one connection. It goes down with the first failure, so that one request at most waits for a store that is
 * away; half-open, it asks again by itself and is up when Redis has answered.
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
      // A store that was late once may answer already: the less the replica decides alone, the fewer it lets through.
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
      // A connection that is open but answers nothing any more is given up.
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
