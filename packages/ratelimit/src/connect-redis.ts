import { parseRedisGroup, type RedisCluster } from "@coffer/env";
import { Cluster, Redis, type RedisOptions } from "ioredis";

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

/** One server, the primary that Sentinels name, or a cluster. */
export type RedisClient = Redis | Cluster;

/**
 * Connects to Redis or Valkey at a `redis:` or `rediss:` URL, to the primary that Sentinels name,
 * or to a cluster (`parseRedisGroup`). Returns at once, and reconnects in the background, also to
 * another primary. Commands time out after 50 ms: callers have a fallback.
 */
export function connectRedis(url: string): RedisClient {
  return quiet(open(url, settings));
}

/**
 * The limiter's own connection, without timeouts and pipelining, which the limiter does itself.
 * `redis` is a URL or a connection to duplicate.
 */
export function connectPlain(redis: Redis | string): RedisClient {
  const own = { ...settings, commandTimeout: undefined, enableAutoPipelining: false };
  return quiet(typeof redis === "string" ? open(redis, own) : redis.duplicate(own));
}

type Given = Omit<typeof settings, "commandTimeout" | "enableAutoPipelining"> & {
  commandTimeout: number | undefined;
  enableAutoPipelining: boolean;
};

function open(url: string, given: Given): RedisClient {
  const address = parseRedisGroup(url);
  if (address === null) return new Redis(url, given);
  if (address.kind === "cluster") return openCluster(address, given);
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

function openCluster({ nodes, username, password, tls }: RedisCluster, given: Given): Cluster {
  const { commandTimeout, connectTimeout, enableOfflineQueue } = given;
  return new Cluster(nodes, {
    enableOfflineQueue,
    clusterRetryStrategy: settings.retryStrategy,
    // A command goes on to the node that has the slot now. Otherwise it fails soon: callers have a fallback.
    maxRedirections: 3,
    retryDelayOnFailover: 10,
    retryDelayOnClusterDown: 10,
    slotsRefreshTimeout: 1000,
    // Finds a new primary of a shard that no command goes to.
    slotsRefreshInterval: 5000,
    redisOptions: { username, password, commandTimeout, connectTimeout, ...(tls ? { tls: {} } : {}) },
    // Certificates are for names.
    ...(tls ? { dnsLookup: (host, done) => done(null, host) } : {}),
  });
}

/** Commands report their failures; without a listener ioredis prints every connection attempt. */
function quiet<Client extends RedisClient>(client: Client): Client {
  client.on("error", () => undefined);
  return client;
}
