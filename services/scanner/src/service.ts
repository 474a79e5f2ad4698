import { availableParallelism } from "node:os";
import {
  buildService,
  createStatelessBase,
  createUsers,
  newId,
  type ServiceInstance,
  type Shared,
} from "@coffer/service/stateless";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { createScanMetrics } from "./pool/metrics.ts";
import { createPool, type PoolOptions } from "./pool/pool.ts";
import { recordRefusal } from "./refusals.ts";
import { answerRequests } from "./replies.ts";
import { routes } from "./routes.ts";

/** For tests: the clock, and the threads and bounds of the pool. */
export interface Seams {
  now?: () => Date;
  pool?: Partial<PoolOptions>;
}

/** More threads than this help no installation, and each holds the rules. */
const mostThreads = 4;

/** Builds the service by hand from its configuration; it listens nowhere yet, and its stores may be away. */
export function createService(config: Config, shared: Shared = {}, { now, pool = {} }: Seams = {}): ServiceInstance {
  const base = createStatelessBase({ name: "scanner", config, shared, ...(now === undefined ? {} : { now }) });
  const users = createUsers(base);
  // One processor is left for requests.
  const threads = Math.max(1, Math.min(mostThreads, availableParallelism() - 1));
  const scans = createPool(createScanMetrics(base.telemetry.metrics), { threads, ...pool });
  const deps: Deps = { ...base, newId, users, scans };
  answerRequests(deps);
  return buildService(base, {
    routes,
    deps,
    onRefused: (route, call, error) => recordRefusal(deps, route, call, error),
    async close() {
      users.close();
      await scans.close();
    },
  });
}
