import type { Logger, Metrics } from "@coffer/telemetry";
import type { Redis } from "ioredis";
import { bucketAddress } from "./bucket-address.ts";
import { connectPlain } from "./connect-redis.ts";
import { createLink } from "./link.ts";
import type { OwnCount } from "./own-count.ts";
import { createOwnCount } from "./own-count.ts";
import { createStore } from "./store.ts";
import { within } from "./within.ts";

export type Bucket = "strict" | "standard" | "user";

/** What the limiter says to one request. */
export interface Decision {
  readonly accepted: boolean;
  /** Requests per window. */
  readonly limit: number;
  /** How many more are accepted now. */
  readonly remaining: number;
  /** Whole seconds until one more fits than now. */
  readonly resetSeconds: number;
  /** Whole seconds after which the same request is accepted; 0 when it was. */
  readonly retryAfterSeconds: number;
}

export interface Limiter {
  readonly limits: Readonly<Record<Bucket, number>>;
  readonly windowSeconds: number;
  /** True while Redis is away and each replica counts for itself. */
  readonly degraded: boolean;
  /** Counts one request of a source address (any notation; IPv6 by its /64). Never rejects. */
  take(bucket: Bucket, address: string): Promise<Decision>;
  /**
   * Counts one request of somebody who is known by another name than an address, in a log of their own with the limit of
   * the bucket. Never rejects.
   */
  takeFor(bucket: Bucket, name: string): Promise<Decision>;
  close(): void;
}

export interface LimiterOptions {
  /** An address, or a connection whose settings are taken for one of the limiter's own; `null`: this process counts alone. */
  redis: Redis | string | null;
  /** Requests per window by bucket. */
  limits: Readonly<Record<Bucket, number>>;
  windowSeconds: number;
  /** The largest number of replicas: while Redis is away each accepts its share. */
  replicas: number;
  metrics: Metrics;
  log?: Logger;
  /** What this process has accepted, which all its limiters share. Default: its own. */
  ownCount?: OwnCount | undefined;
  /** How long a request waits for Redis. Default: 45 ms. */
  deadlineMilliseconds?: number | undefined;
  /** The time in microseconds, for tests. Default: Redis's own clock, and a monotonic one for the replica's own log. */
  clock?: () => number;
}

/**
 * Makes the limiter: an exact sliding log in Redis, shared by all replicas; while Redis is away, the log of what this
 * replica has accepted itself. In no window are more than the limit accepted; refused requests are not recorded.
 */
export function createLimiter(options: LimiterOptions): Limiter {
  const { limits, windowSeconds, replicas, metrics, log, clock, deadlineMilliseconds = 45 } = options;
  const window = windowSeconds * 1_000_000;
  const now = clock ?? monotonicMicroseconds;
  const own = options.ownCount ?? createOwnCount(windowSeconds);
  const decisions = metrics.counter("coffer_ratelimit_decisions_total", "Requests by what the limiter said", [
    "bucket",
    "decision",
  ]);
  const degraded = metrics.gauge(
    "coffer_ratelimit_degraded",
    "1 while Redis is away and each replica counts for itself",
  );
  degraded.set(options.redis === null ? 0 : 1);

  const redis = options.redis === null ? null : countInRedis(options.redis);
  function countInRedis(given: Redis | string) {
    const connection = connectPlain(given);
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

  /** Decides by the replica's own log, of which at most `most` entries may be in the window. */
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

  async function askRedis({ store, link }: Shared, key: string, limit: number): Promise<Decision> {
    const reply = await within(store.take(key, limit, window), deadlineMilliseconds);
    if (reply === undefined) {
      link.fail();
      return withoutRedis(key, limit);
    }
    if (reply.accepted) own.log.add(key, now());
    return decide(reply.accepted, limit, reply.remaining, reply.wait);
  }

  /** While Redis may not know all of the last window, the replica's own log must agree, with `most` entries. */
  async function askBoth({ store, link }: Shared, key: string, limit: number, most: number): Promise<Decision> {
    const at = now();
    // The place is taken before Redis is asked, so that requests at the same time do not share it.
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
    if (at < redis.link.youngUntil) return askBoth(redis, key, limit, share(limit));
    return at < own.unknownUntil ? askBoth(redis, key, limit, limit) : askRedis(redis, key, limit);
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

function monotonicMicroseconds(): number {
  return performance.now() * 1000;
}
