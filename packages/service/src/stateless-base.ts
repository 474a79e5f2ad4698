import type { Bus } from "@coffer/bus";
import { connectBus } from "@coffer/bus";
import { ConfigurationError } from "@coffer/env";
import type { ServiceName } from "@coffer/events";
import type { Limiter } from "@coffer/ratelimit";
import { connectRedis, createLimiter } from "@coffer/ratelimit";
import type { Counter, Telemetry } from "@coffer/telemetry";
import { createTelemetry } from "@coffer/telemetry";
import type { StatelessConfig } from "./service-config.ts";
import type { Shared } from "./service-room.ts";

/** The window of every bucket. */
export const limiterWindowSeconds = 60;

export interface StatelessBaseOptions<Config extends StatelessConfig> {
  name: ServiceName;
  config: Config;
  shared?: Shared;
  /** Default: the system's clock. */
  now?: () => Date;
}

/** What a service stands on that keeps nothing in Postgres. Its stores connect in the background, and may come and go. */
export interface StatelessBase<Config extends StatelessConfig = StatelessConfig> {
  readonly name: ServiceName;
  readonly config: Config;
  readonly telemetry: Telemetry;
  readonly bus: Bus;
  /** `null` in a process that holds every service and runs without Redis. */
  readonly redis: ReturnType<typeof connectRedis> | null;
  /** Counts requests, for all replicas and all services. */
  readonly limiter: Limiter;
  /** `coffer_auth_failures_total`, by why. */
  readonly authFailures: Counter<"reason">;
  /** The present time. */
  now(): Date;
}

/**
 * Makes what a service stands on that keeps nothing in Postgres. `buildService` ends it.
 * @throws ConfigurationError when there is no Redis and no count that all services of the installation share
 */
export function createStatelessBase<Config extends StatelessConfig>({
  name,
  config,
  shared: { ownCount, ...shared } = {},
  now = () => new Date(),
}: StatelessBaseOptions<Config>): StatelessBase<Config> {
  const { stores } = config;
  if (stores.redisUrl === null && ownCount === undefined)
    throw new ConfigurationError(["COFFER_REDIS_URL=none needs all services in one process"]);
  const telemetry = createTelemetry({ service: name, level: config.COFFER_LOG_LEVEL, ...shared });
  const redis = stores.redisUrl === null ? null : connectRedis(stores.redisUrl);
  return {
    name,
    config,
    telemetry,
    bus: connectBus({ ...stores.nats, service: name, telemetry }),
    redis,
    limiter: createLimiter({
      redis,
      limits: {
        strict: config.COFFER_LIMIT_STRICT,
        standard: config.COFFER_LIMIT_STANDARD,
        user: config.COFFER_LIMIT_USER,
      },
      windowSeconds: limiterWindowSeconds,
      ownCount,
      replicas: config.COFFER_REPLICAS,
      metrics: telemetry.metrics,
      log: telemetry.log,
    }),
    authFailures: telemetry.metrics.counter("coffer_auth_failures_total", "Callers that were not let in, by why", [
      "reason",
    ]),
    now,
  };
}
