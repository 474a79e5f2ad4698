import {
  buildService,
  createStatelessBase,
  createUserVerifier,
  hearRevocations,
  newId,
} from "@coffer/service/stateless";
import type { ServiceInstance, Shared, StatelessBase } from "@coffer/service/stateless";
import { createTurns, createTurnsByKey } from "./answers/turns.ts";
import type { Config } from "./config.ts";
import { createConnections } from "./connections/connections.ts";
import { drainConnections } from "./connections/drain.ts";
import { createExpiries } from "./connections/expiries.ts";
import { createHeartbeat } from "./connections/heartbeat.ts";
import type { Deps } from "./deps.ts";
import { createSyncMetrics } from "./metrics.ts";
import { createMissedNews } from "./news/missed-news.ts";
import { folderNews, vaultNews } from "./news/sources.ts";
import { createHandshake } from "./opening/handshake.ts";
import { createAudience } from "./pushes/audience.ts";
import { createFanOut } from "./pushes/fan-out.ts";
import { hearChanges } from "./pushes/hear.ts";
import { routes, upgrades } from "./routes.ts";
import { endSessions } from "./sessions/end-sessions.ts";
import type { Timings } from "./timings.ts";
import { timings as defaultTimings } from "./timings.ts";

const tickMilliseconds = 100;
/** When thousands connect at once, vaults is asked by so many at a time and answers each within its time. */
const mostQuestions = 32;
/** An answer that is taken slowly holds up to two parts in memory all the time: nobody gets more of them at once. */
const mostAnswersEach = 8;

/** Builds the service by hand from its configuration; it listens nowhere yet, and its stores may be away. */
export function createService(config: Config, shared: Shared = {}, own: Partial<Timings> = {}): ServiceInstance {
  const base = createStatelessBase({ name: "sync", config, shared });
  const deps = buildDeps(base, { ...defaultTimings, ...own });
  hearChanges(deps);
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
      deps.news.close();
      deps.folderNews.close();
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
  const missed = { bus, connections, timings, log };
  return {
    bus,
    authFailures,
    log,
    metrics,
    timings,
    newId,
    allowedOrigins: new Set(config.COFFER_SYNC_ALLOWED_ORIGINS),
    verifyUser: createUserVerifier(base),
    revocations: hearRevocations(redis, bus, {
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
    news: createMissedNews({ ...missed, source: vaultNews(bus, fanOut) }),
    folderNews: createMissedNews({ ...missed, source: folderNews(bus, fanOut) }),
    // By session: however many devices come back from one address at once, each may ask.
    admit: (sessionId) => limiter.takeFor("user", `session ${sessionId}`),
    turns: createTurns(mostQuestions),
    turnsByUser: createTurnsByKey(mostAnswersEach),
    state: { draining: false },
  };
}
