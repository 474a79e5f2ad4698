import { type Bus, connectBus } from "@coffer/bus";
import { ConfigurationError } from "@coffer/env";
import type { ServiceName } from "@coffer/events";
import { connectRedis, createLimiter, type Limiter } from "@coffer/ratelimit";
import { type Counter, createTelemetry, type Telemetry } from "@coffer/telemetry";
import type { StatelessConfig } from "./service-config.ts";
import type { Shared } from "./service-module.ts";

/** The window of every rate limit bucket. */
export const limiterWindowSeconds = 60;

export interface StatelessBaseOptions<Config extends StatelessConfig> {
  name: ServiceName;
  config: Config;
  shared?: Shared;
  /** Default: the system's clock. */
  now?: () => Date;
}

/** The base of a service without Postgres. Its stores connect in the background and reconnect. */
export interface StatelessBase<Config extends StatelessConfig = StatelessConfig> {
  readonly name: ServiceName;
  readonly config: Config;
  readonly telemetry: Telemetry;
  readonly bus: Bus;
  /** `null` in a process that runs all services without Redis. */
  readonly redis: ReturnType<typeof connectRedis> | null;
  /** Limits requests across all replicas and services. */
  readonly limiter: Limiter;
  /** `coffer_auth_failures_total`, by reason. */
  readonly authFailures: Counter<"reason">;
  now(): Date;
}

/**
 * Makes the base of a service without Postgres. `buildService` closes it.
 * @throws ConfigurationError without Redis and without a count that all services share
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
      redis: stores.redisUrl,
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
    authFailures: telemetry.metrics.counter("coffer_auth_failures_total", "Callers that were refused, by reason", [
      "reason",
    ]),
    now,
  };
}
