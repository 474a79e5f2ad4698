import { randomBytes } from "node:crypto";
import { connectBus } from "@coffer/bus";
import { createApp } from "@coffer/http";
import type { Database } from "@coffer/postgres";
import { createAuditLog, createDatabase, deliverOver, startRelay } from "@coffer/postgres";
import { connectRedis, createLimiter, parseTrustedProxies } from "@coffer/ratelimit";
import { createReadiness, newId } from "@coffer/service";
import type { ServiceInstance, Shared } from "@coffer/service";
import type { Telemetry } from "@coffer/telemetry";
import { createTelemetry } from "@coffer/telemetry";
import { verifyMachineToken, verifyUserToken } from "@coffer/tokens";
import { loginStartSweep } from "./accounts/sweep-login-starts.ts";
import { createClientActivity } from "./clients/activity.ts";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { findPublicKey } from "./keys/find-public-key.ts";
import { loadServerKeys } from "./keys/server-keys.ts";
import { migrations, schema } from "./migrate.ts";
import { recordRefusal } from "./refusals.ts";
import { answerRequests } from "./replies.ts";
import { routes } from "./routes.ts";
import { createAnnouncer } from "./sessions/announce.ts";
import { sessionSweep } from "./sessions/sweep.ts";
import { createClientKeys } from "./store/client-keys.ts";
import { createSecretReads } from "./store/secret-reads.ts";
import { createSecretWrites } from "./store/secret-writes.ts";
import { startSweeper } from "./sweeper.ts";

/** What a test may set: the clock. */
export interface Seams {
  now?: () => Date;
}

/** Builds the service by hand from its configuration; it listens nowhere yet, and its stores may be away. */
export function createService(config: Config, shared: Shared = {}, seams: Seams = {}): ServiceInstance {
  const telemetry = createTelemetry({ service: "auth-sm", level: config.COFFER_LOG_LEVEL, ...shared });
  const deps = buildDeps(config, telemetry, seams.now ?? (() => new Date()));
  const { database, bus, redis } = deps;
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
  const relay = startRelay({ database, deliver: deliverOver(bus), telemetry });
  bus.onConnect(() => relay.nudge());
  answerRequests(deps);
  const sweepers = [loginStartSweep(deps), sessionSweep(deps)].map((sweep) => startSweeper(sweep, telemetry.log));
  const app = createApp({
    service: "auth-sm",
    routes,
    deps,
    limiter,
    trustedProxies: parseTrustedProxies(config.COFFER_TRUSTED_PROXY_CIDRS),
    routerSecret: config.COFFER_ROUTER_SECRET,
    corsOrigins: config.COFFER_SYNC_ALLOWED_ORIGINS,
    telemetry,
    onRefused: (route, call, error) => recordRefusal(deps, route, call, error),
    now: deps.now,
  });

  return {
    listener: app,
    upgrade: app.upgrade,
    telemetry,
    ready: createReadiness({ database, migrations, bus, redis }),
    async close() {
      await Promise.all(sweepers.map((sweeper) => sweeper.close()));
      await deps.activity.close();
      deps.announcer.close();
      deps.keys.close();
      await relay.close();
      await bus.close();
      limiter.close();
      redis.disconnect();
      await database.close();
    },
  };
}

function buildDeps(config: Config, telemetry: Telemetry, now: () => Date): Deps {
  const { stores } = config;
  const database = createDatabase({ url: stores.postgresUrl, schema, telemetry });
  const redis = connectRedis(stores.redisUrl);
  const keys = loadServerKeys({ database, now, randomBytes, telemetry });
  const issuer = config.COFFER_BASE_URL[0] ?? "";
  return {
    config,
    database,
    bus: connectBus({ ...stores.nats, service: "auth-sm", telemetry }),
    redis,
    telemetry,
    authFailures: telemetry.metrics.counter("coffer_auth_failures_total", "Callers that were not let in, by why", [
      "reason",
    ]),
    now,
    newId,
    randomBytes,
    keys,
    audit: createAuditLog(database),
    verifyMachine: machineVerifier(config, database, now),
    verifyUser: verifyUserToken({ issuer, now, findKey: (kid) => findPublicKey(keys, kid) }),
    reads: createSecretReads(database),
    writes: createSecretWrites(database),
    announcer: createAnnouncer({ config, database, now, redis, telemetry }),
    activity: createClientActivity(database, telemetry.log),
  };
}

function machineVerifier(config: Config, database: Database, now: () => Date): Deps["verifyMachine"] {
  const clientKeys = createClientKeys(database);
  return verifyMachineToken({ audiences: config.COFFER_BASE_URL, now, findKey: clientKeys.find });
}
