import type { Logger, Metrics } from "@coffer/telemetry";
import { bucketAddress } from "./bucket-address.ts";
import type { Redis } from "ioredis";
import { connectPlain } from "./connect-redis.ts";
import { logReasons } from "./log-reasons.ts";
import { createLink } from "./link.ts";
import { createOwnCount, type OwnCount } from "./own-count.ts";
import { createStore } from "./store.ts";
import { within } from "./within.ts";

export type Bucket = "strict" | "standard" | "user";

/** The decision for one request. */
export interface Decision {
  readonly accepted: boolean;
  /** Requests per window. */
  readonly limit: number;
  /** Further requests that would be accepted now. */
  readonly remaining: number;
  /** Seconds until one more request fits. */
  readonly resetSeconds: number;
  /** Seconds until the request would be accepted; 0 if it was. */
  readonly retryAfterSeconds: number;
}

export interface Limiter {
  readonly limits: Readonly<Record<Bucket, number>>;
  readonly windowSeconds: number;
  /** True while Redis is away and each replica counts alone. */
  readonly degraded: boolean;
  /** Counts one request of a source address (any notation; IPv6 by its /64). Never rejects. */
  take(bucket: Bucket, address: string): Promise<Decision>;
  /** Counts one request under another name than an address. Never rejects. */
  takeFor(bucket: Bucket, name: string): Promise<Decision>;
  close(): void;
}

export interface LimiterOptions {
  /**
   * A URL, or a connection whose settings the limiter copies; `null`: this process counts alone.
   */
  redis: Redis | string | null;
  /** Requests per window by bucket. */
  limits: Readonly<Record<Bucket, number>>;
  windowSeconds: number;
  /** The largest number of replicas: while Redis is away each accepts its share. */
  replicas: number;
  metrics: Metrics;
  log?: Logger;
  /** The local log that all limiters of this process share. Default: a separate one. */
  ownCount?: OwnCount | undefined;
  /** How long a request waits for Redis. Default: 45 ms. */
  deadlineMilliseconds?: number | undefined;
  /**
   * Microseconds, for tests. Default: the clock of Redis, and a monotonic clock for the local log.
   */
  clock?: () => number;
}

/**
 * Makes the limiter: an exact sliding log in Redis, shared by all replicas; while Redis is away,
 * the local log of this replica. No window accepts more than the limit. Refused requests are not
 * counted.
 */
export function createLimiter(options: LimiterOptions): Limiter {
  const { limits, windowSeconds, replicas, metrics, log, clock, deadlineMilliseconds = 45 } = options;
  const window = windowSeconds * 1_000_000;
  const now = clock ?? monotonicMicroseconds;
  const own = options.ownCount ?? createOwnCount(windowSeconds);
  const decisions = metrics.counter("coffer_ratelimit_decisions_total", "Requests by decision of the limiter", [
    "bucket",
    "decision",
  ]);
  const degraded = metrics.gauge("coffer_ratelimit_degraded", "1 while Redis is away and each replica counts alone");
  degraded.set(options.redis === null ? 0 : 1);

  const redis = options.redis === null ? null : countInRedis(options.redis);
  function countInRedis(given: Redis | string) {
    const connection = connectPlain(given);
    if (log !== undefined) logReasons(connection, log);
    const store = createStore(connection, clock);
    const onChange = (up: boolean): void => {
      degraded.set(up ? 0 : 1);
      if (up) log?.info("the limiter counts in Redis");
      else log?.warn("Redis does not answer: the limiter counts for this replica alone");
    };
    const link = createLink({ redis: connection, store, clock: now, window, deadlineMilliseconds, onChange });
    return { store, link };
  }
  type Shared = NonNullable<typeof redis>;

  const share = (limit: number): number => Math.max(1, Math.floor(limit / replicas));

  function decide(accepted: boolean, limit: number, remaining: number, wait: number): Decision {
    const seconds = Math.max(1, Math.ceil(wait / 1_000_000));
    return { accepted, limit, remaining, resetSeconds: seconds, retryAfterSeconds: accepted ? 0 : seconds };
  }

  /** Decides by the local log, with at most `most` entries in the window. */
  function decideAlone(key: string, limit: number, most: number, at: number): Decision {
    const count = own.log.count(key, at);
    if (count >= most) return decide(false, limit, 0, own.log.wait(key, most, at));
    own.log.add(key, at);
    return decide(true, limit, most - count - 1, own.log.wait(key, count + 1, at));
  }

  function withoutRedis(key: string, limit: number): Decision {
    const at = now();
    const decision = decideAlone(key, limit, share(limit), at);
    if (decision.accepted) own.unknownUntil = at + window;
    return decision;
  }

  async function decideByRedis({ store, link }: Shared, key: string, limit: number): Promise<Decision> {
    const reply = await within(store.take(key, limit, window), deadlineMilliseconds);
    if (reply === undefined) {
      link.fail();
      return withoutRedis(key, limit);
    }
    if (reply.accepted) own.log.add(key, now());
    return decide(reply.accepted, limit, reply.remaining, reply.wait);
  }

  /**
   * While Redis may lack entries of the last window, the local log must also accept, with `most`
   * entries.
   */
  async function decideByBoth({ store, link }: Shared, key: string, limit: number, most: number): Promise<Decision> {
    const at = now();
    // Reserved before the request to Redis, so that concurrent requests do not share the entry.
    const alone = decideAlone(key, limit, most, at);
    if (!alone.accepted) return alone;
    const reply = await within(store.take(key, limit, window), deadlineMilliseconds);
    own.log.remove(key, at);
    if (reply === undefined) {
      link.fail();
      return withoutRedis(key, limit);
    }
    if (!reply.accepted) return decide(false, limit, 0, reply.wait);
    own.log.add(key, now());
    return decide(true, limit, Math.min(alone.remaining, reply.remaining), reply.wait);
  }

  function choose(key: string, limit: number): Promise<Decision> | Decision {
    if (redis?.link.up !== true) return withoutRedis(key, limit);
    const at = now();
    if (at < redis.link.youngUntil) return decideByBoth(redis, key, limit, share(limit));
    return at < own.unknownUntil ? decideByBoth(redis, key, limit, limit) : decideByRedis(redis, key, limit);
  }

  async function count(bucket: Bucket, name: string): Promise<Decision> {
    const decision = await choose(`${bucket}:${name}`, limits[bucket]);
    decisions.inc({ bucket, decision: decision.accepted ? "accepted" : "refused" });
    return decision;
  }

  return {
    limits,
    windowSeconds,
    get degraded() {
      return redis !== null && !redis.link.up;
    },
    take: (bucket, address) => count(bucket, bucketAddress(address)),
    takeFor: count,
    close: () => redis?.link.close(),
  };
}

/**
 * Whole microseconds: the sum of a fraction and a window is rounded, and a wait could be longer
 * than its window.
 */
function monotonicMicroseconds(): number {
  return Math.floor(performance.now() * 1000);
}
