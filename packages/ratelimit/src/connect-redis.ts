import type { RedisOptions } from "ioredis";
import { Redis } from "ioredis";

const longestRetryMilliseconds = 500;

const settings = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  commandTimeout: 50,
  connectTimeout: 200,
  enableAutoPipelining: true,
  retryStrategy: (attempt: number) => Math.min(attempt * 25, longestRetryMilliseconds),
  // A server that was the primary until a failover: the name leads to another one now.
  reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
} satisfies RedisOptions;

/**
 * Connects to Redis or Valkey at a `redis:` or `rediss:` URL. Returns at once and connects in the background, for ever.
 * A command fails within 50 ms instead of waiting for a store that is away: whoever sends it has another way.
 */
export function connectRedis(url: string): Redis {
  return quiet(new Redis(url, settings));
}

/**
 * A connection of the limiter's own, without timers and pipelines: it has both itself. `redis` is a URL, or a connection
 * to whose server another one is made.
 */
export function connectPlain(redis: Redis | string): Redis {
  const own = { ...settings, commandTimeout: undefined, enableAutoPipelining: false };
  return quiet(typeof redis === "string" ? new Redis(redis, own) : redis.duplicate(own));
}

/** Each command reports its own failure; without a listener ioredis prints every attempt to connect. */
function quiet(redis: Redis): Redis {
  redis.on("error", () => undefined);
  return redis;
}
