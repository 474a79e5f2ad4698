import { connectBus } from "@coffer/bus";
import { signingKeys } from "@coffer/events";
import { createApp } from "@coffer/http";
import { createDatabase } from "@coffer/postgres";
import { connectRedis, createLimiter, parseTrustedProxies } from "@coffer/ratelimit";
import { createReadiness } from "@coffer/service";
import type { ServiceInstance, Shared } from "@coffer/service";
import { createTelemetry } from "@coffer/telemetry";
import { createKeySet, verifyUserToken } from "@coffer/tokens";
import { hearRevocations } from "./callers/revoked-sessions.ts";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { migrations, schema } from "./migrate.ts";
import { answerRequests } from "./replies.ts";
import { routes } from "./routes.ts";

/** Builds the service by hand from its configuration; it listens nowhere yet, and its stores may be away. */
export function createService(config: Config, shared: Shared = {}): ServiceInstance {
  const { stores } = config;
  const now = (): Date => new Date();
  const telemetry = createTelemetry({ service: "siem-forwarder", level: config.COFFER_LOG_LEVEL, ...shared });
  const { log, metrics } = telemetry;

  const database = createDatabase({ url: stores.postgresUrl, schema, telemetry });
  const bus = connectBus({ ...stores.nats, service: "siem-forwarder", telemetry });
  const redis = connectRedis(stores.redisUrl);
  const limiter = createLimiter({
    redis,
    limits: {
      strict: config.COFFER_LIMIT_STRICT,
      standard: config.COFFER_LIMIT_STANDARD,
      user: config.COFFER_LIMIT_USER,
    },
    windowSeconds: 60,
    replicas: config.COFFER_REPLICAS,
    metrics,
    log,
  });
  const revocations = hearRevocations(redis, bus, { lifetimeSeconds: config.COFFER_ACCESS_TOKEN_SECONDS, now });
  const keySet = createKeySet(async () => (await bus.request(signingKeys, {})).keys);

  const deps: Deps = {
    database,
    bus,
    authFailures: metrics.counter("coffer_auth_failures_total", "Callers that were not let in, by why", ["reason"]),
    verifyUser: verifyUserToken({ issuer: config.COFFER_BASE_URL[0] ?? "", now, findKey: (kid) => keySet.find(kid) }),
    revocations,
  };
  answerRequests(bus, deps);
  const app = createApp({
    service: "siem-forwarder",
    routes,
    deps,
    limiter,
    trustedProxies: parseTrustedProxies(config.COFFER_TRUSTED_PROXY_CIDRS),
    routerSecret: config.COFFER_ROUTER_SECRET,
    corsOrigins: config.COFFER_SYNC_ALLOWED_ORIGINS,
    telemetry,
  });

  return {
    listener: app,
    upgrade: app.upgrade,
    telemetry,
    ready: createReadiness({ database, migrations, bus, redis }),
    async close() {
      revocations.close();
      limiter.close();
      redis.disconnect();
      // Appends that are under way are answered first.
      await bus.close();
      await database.close();
    },
  };
}
