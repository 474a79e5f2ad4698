import type { Bus } from "@coffer/bus";
import { connectBus } from "@coffer/bus";
import type { ServiceName } from "@coffer/events";
import type { AppOptions } from "@coffer/http";
import { createApp } from "@coffer/http";
import type { Database, MigrationSource } from "@coffer/postgres";
import { createDatabase } from "@coffer/postgres";
import { connectRedis, createLimiter, parseTrustedProxies } from "@coffer/ratelimit";
import type { Counter, Telemetry } from "@coffer/telemetry";
import { createTelemetry } from "@coffer/telemetry";
import { createReadiness } from "./readiness.ts";
import type { BaseConfig, StatelessConfig } from "./service-config.ts";
import type { ServiceInstance, Shared } from "./service-room.ts";

export interface StatelessBaseOptions<Config extends StatelessConfig> {
  name: ServiceName;
  config: Config;
  shared?: Shared;
  /** Default: the system's clock. */
  now?: () => Date;
}

export interface ServiceBaseOptions<Config extends BaseConfig> extends StatelessBaseOptions<Config> {
  /** The service's own in Postgres, and what makes it. */
  schema: string;
  migrations: MigrationSource;
}

/** What a service stands on that keeps nothing in Postgres. Its stores connect in the background, and may come and go. */
export interface StatelessBase<Config extends StatelessConfig = StatelessConfig> {
  readonly name: ServiceName;
  readonly config: Config;
  readonly telemetry: Telemetry;
  readonly bus: Bus;
  readonly redis: ReturnType<typeof connectRedis>;
  /** `coffer_auth_failures_total`, by why. */
  readonly authFailures: Counter<"reason">;
  /** The present time. */
  now(): Date;
}

/** What every other service stands on. */
export interface ServiceBase<Config extends BaseConfig = BaseConfig> extends StatelessBase<Config> {
  readonly migrations: MigrationSource;
  readonly database: Database;
}

/** Makes what a service stands on that keeps nothing in Postgres. `buildService` ends it. */
export function createStatelessBase<Config extends StatelessConfig>({
  name,
  config,
  shared = {},
  now = () => new Date(),
}: StatelessBaseOptions<Config>): StatelessBase<Config> {
  const { stores } = config;
  const telemetry = createTelemetry({ service: name, level: config.COFFER_LOG_LEVEL, ...shared });
  return {
    name,
    config,
    telemetry,
    bus: connectBus({ ...stores.nats, service: name, telemetry }),
    redis: connectRedis(stores.redisUrl),
    authFailures: telemetry.metrics.counter("coffer_auth_failures_total", "Callers that were not let in, by why", [
      "reason",
    ]),
    now,
  };
}

/** Makes what every other service stands on. `buildService` ends it. */
export function createServiceBase<Config extends BaseConfig>(options: ServiceBaseOptions<Config>): ServiceBase<Config> {
  const { config, schema, migrations } = options;
  const base = createStatelessBase(options);
  const database = createDatabase({ url: config.stores.postgresUrl, schema, telemetry: base.telemetry });
  return { ...base, migrations, database };
}

/** What a service puts on its base. */
export interface ServiceParts<Deps, Caller> extends Pick<
  AppOptions<Deps, Caller>,
  "deps" | "onRefused" | "routes" | "upgrades"
> {
  drain?: NonNullable<ServiceInstance["drain"]>;
  /** Ends what is the service's own, while the bus and the stores are still there. */
  close(): Promise<void>;
}

/**
 * The service that answers `routes` with `deps`, behind the limiter that all services share. It listens nowhere yet.
 */
export function buildService<Deps, Caller>(
  base: StatelessBase | ServiceBase,
  { drain, close, ...own }: ServiceParts<Deps, Caller>,
): ServiceInstance {
  const { name, config, telemetry, bus, redis, now } = base;
  const limiter = createLimiter({
    redis,
    limits: {
      strict: config.COFFER_LIMIT_STRICT,
      standard: config.COFFER_LIMIT_STANDARD,
      user: config.COFFER_LIMIT_USER,
    },
    windowSeconds: 60,
    replicas: config.COFFER_REPLICAS,
    metrics: telemetry.metrics,
    log: telemetry.log,
  });
  const app = createApp({
    ...own,
    service: name,
    limiter,
    trustedProxies: parseTrustedProxies(config.COFFER_TRUSTED_PROXY_CIDRS),
    routerSecret: config.COFFER_ROUTER_SECRET,
    corsOrigins: config.COFFER_SYNC_ALLOWED_ORIGINS,
    telemetry,
    now,
  });
  return {
    listener: app,
    upgrade: app.upgrade,
    telemetry,
    ready: createReadiness(base),
    ...(drain === undefined ? {} : { drain }),
    async close() {
      await close();
      // What was asked over the bus is answered before the database goes.
      await bus.close();
      limiter.close();
      redis.disconnect();
      if ("database" in base) await base.database.close();
    },
  };
}
