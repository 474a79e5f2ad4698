import { parseSentinelUrl } from "@coffer/env";
import { Redis, type RedisOptions } from "ioredis";

const longestRetryMilliseconds = 500;

const settings = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  commandTimeout: 50,
  connectTimeout: 200,
  enableAutoPipelining: true,
  retryStrategy: (attempt: number) => Math.min(attempt * 25, longestRetryMilliseconds),
  // The server lost its primary role: the name now leads to another one.
  reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
} satisfies RedisOptions;

/**
 * Connects to Redis or Valkey at a `redis:` or `rediss:` URL, or to the primary that Sentinels name
 * (`parseSentinelUrl`). Returns at once, and reconnects in the background, also to another primary.
 * Commands time out after 50 ms: callers have a fallback.
 */
export function connectRedis(url: string): Redis {
  return quiet(open(url, settings));
}

/**
 * The limiter's own connection, without timeouts and pipelining, which the limiter does itself.
 * `redis` is a URL or a connection to duplicate.
 */
export function connectPlain(redis: Redis | string): Redis {
  const own = { ...settings, commandTimeout: undefined, enableAutoPipelining: false };
  return quiet(typeof redis === "string" ? open(redis, own) : redis.duplicate(own));
}

type Given = Omit<typeof settings, "commandTimeout" | "enableAutoPipelining"> & {
  commandTimeout: number | undefined;
  enableAutoPipelining: boolean;
};

function open(url: string, given: Given): Redis {
  const address = parseSentinelUrl(url);
  if (address === null) return new Redis(url, given);
  const { sentinels, name, username, password, sentinelPassword, tls } = address;
  return new Redis({
    ...given,
    sentinels,
    name,
    username,
    password,
    sentinelPassword,
    ...(tls ? { tls: {}, enableTLSForSentinelMode: true } : {}),
    sentinelRetryStrategy: settings.retryStrategy,
    // Follows a new primary also while the former one still answers.
    failoverDetector: true,
    sentinelReconnectStrategy: settings.retryStrategy,
  });
}

/** Commands report their failures; without a listener ioredis prints every connection attempt. */
function quiet(redis: Redis): Redis {
  redis.on("error", () => undefined);
  return redis;
}
