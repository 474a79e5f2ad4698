import pLimit from "p-limit";
import { folderChanged, recordsChanged, vaultChanged } from "@coffer/events";
import {
  buildService,
  createStatelessBase,
  createUserVerifier,
  followRevocations,
  newId,
  type ServiceInstance,
  type Shared,
  type StatelessBase,
} from "@coffer/service/stateless";
import { limitPerKey } from "./answers/limit-per-key.ts";
import { type CatchUp, createCatchUp } from "./catch-up/catch-up.ts";
import { folderSource, vaultSource } from "./catch-up/sources.ts";
import type { Config } from "./config.ts";
import { createConnections } from "./connections/connections.ts";
import { drainConnections } from "./connections/drain.ts";
import { createExpiries } from "./connections/expiries.ts";
import { createHeartbeat } from "./connections/heartbeat.ts";
import type { Deps } from "./deps.ts";
import { createSyncMetrics } from "./metrics.ts";
import { createHandshake } from "./opening/handshake.ts";
import { createAudience } from "./pushes/audience.ts";
import { createFanOut } from "./pushes/fan-out.ts";
import { routes, upgrades } from "./routes.ts";
import { endSessions } from "./sessions/end-sessions.ts";
import { type Timings, timings as defaultTimings } from "./timings.ts";

const tickMilliseconds = 100;
/** Bounds the load on vaults when thousands of devices connect at once. */
const maxRequests = 32;
/** A slow answer holds up to two parts in memory, hence the limit for each person. */
const maxAnswersPerUser = 8;

/**
 * Builds the service from its configuration. It does not listen yet, and its stores may be away.
 */
export function createService(config: Config, shared: Shared = {}, own: Partial<Timings> = {}): ServiceInstance {
  const base = createStatelessBase({ name: "sync", config, shared });
  const deps = buildDeps(base, { ...defaultTimings, ...own });
  subscribeToChanges(deps);
  const ticking = setInterval(() => {
    deps.heartbeat.tick();
    deps.expiries.tick();
  }, tickMilliseconds).unref();
  return buildService(base, {
    routes,
    upgrades,
    deps,
    drain: (seconds) => {
      deps.state.draining = true;
      return drainConnections(deps.connections, seconds);
    },
    close() {
      clearInterval(ticking);
      deps.catchUp.close();
      deps.folderCatchUp.close();
      deps.revocations.close();
      for (const connection of deps.connections.all()) connection.socket.terminate();
      return Promise.resolve();
    },
  });
}

function buildDeps(base: StatelessBase<Config>, timings: Timings): Deps {
  const { bus, redis, limiter, config, telemetry, authFailures, now } = base;
  const { log } = telemetry;
  const connections = createConnections();
  const metrics = createSyncMetrics(telemetry.metrics, () => connections.size, now);
  const fanOut = createFanOut({ audience: createAudience(bus), connections, metrics });
  const shared = { bus, connections, timings, log };
  return {
    bus,
    authFailures,
    log,
    metrics,
    timings,
    newId,
    allowedOrigins: new Set(config.COFFER_SYNC_ALLOWED_ORIGINS),
    verifyUser: createUserVerifier(base),
    revocations: followRevocations(redis, bus, {
      lifetimeSeconds: config.COFFER_ACCESS_TOKEN_SECONDS,
      now,
      onRevoked: endSessions(bus, connections, timings),
    }),
    handshake: createHandshake(),
    connections,
    limits: { session: config.COFFER_LIMIT_SOCKETS_SESSION, user: config.COFFER_LIMIT_SOCKETS_USER },
    heartbeat: createHeartbeat(timings),
    expiries: createExpiries(now),
    fanOut,
    catchUp: createCatchUp({ ...shared, source: vaultSource(bus, fanOut) }),
    folderCatchUp: createCatchUp({ ...shared, source: folderSource(bus, fanOut) }),
    // By session: many devices may reconnect from one address at once.
    admit: (sessionId) => limiter.takeFor("user", `session ${sessionId}`),
    requestSlots: pLimit(maxRequests),
    answerSlots: limitPerKey(maxAnswersPerUser),
    state: { draining: false },
  };
}

/** The bus surface: pushes events to devices. Catch-up delivers what cannot be pushed now. */
function subscribeToChanges({ bus, log, fanOut, catchUp, folderCatchUp }: Deps): void {
  const pushOrCatchUp = async (work: Promise<void>, { missed }: CatchUp): Promise<void> => {
    try {
      await work;
    } catch (error) {
      log.warn({ err: error }, "a change could not be pushed: its audience is unknown");
      missed();
    }
  };
  bus.subscribe(recordsChanged, (changes) => pushOrCatchUp(fanOut.records(changes), catchUp));
  bus.subscribe(vaultChanged, (change) => pushOrCatchUp(fanOut.vault(change), catchUp));
  bus.subscribe(folderChanged, (change) => pushOrCatchUp(fanOut.folder(change), folderCatchUp));
}
