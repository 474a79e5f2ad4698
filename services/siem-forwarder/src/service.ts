import {
  buildService,
  createServiceBase,
  createUsers,
  newId,
  recordRefusal,
  type ServiceInstance,
  type Shared,
  startSweeper,
} from "@coffer/service";
import { partitionSweep } from "./audit/keep-partitions.ts";
import { observePartitions } from "./audit/partition-metrics.ts";
import type { Config } from "./config.ts";
import { createSealer } from "./credentials/seal.ts";
import { createDeliveryMetrics } from "./delivery/delivery-metrics.ts";
import type { DeliveryDeps } from "./delivery/deliver.ts";
import { type Forwarder, startForwarder } from "./delivery/forwarder.ts";
import type { Deps } from "./deps.ts";
import { observeDrills } from "./drill/drill-metrics.ts";
import { resealSweep } from "./endpoints/reseal.ts";
import { migrations, schema } from "./migrate.ts";
import { createNetworks } from "./outgoing/networks.ts";
import { createResolve, type Resolve } from "./outgoing/resolve.ts";
import { createPlans, type Plans } from "./plans/plans.ts";
import { refusalsOf } from "./refusals.ts";
import { answerRequests } from "./replies.ts";
import { routes } from "./routes.ts";
import { createDeliveryStore } from "./store/deliveries.ts";

/** For tests: the clock, how names resolve, the plans of organizations. */
export interface Seams {
  now?: () => Date;
  resolve?: Resolve;
  plans?: Plans;
  /** The part of the jitter that is used, 0 to 1. */
  random?: () => number;
  /** How often it looks which deliveries are due; null: only when `forwarder.tick` is called. */
  lookMilliseconds?: number | null;
  /** How long a request to an endpoint may take. */
  outgoingMilliseconds?: number;
}

/** The service, and its deliveries for tests that drive them. */
export interface ForwarderInstance extends ServiceInstance {
  forwarder: Forwarder;
}

/** Builds the service by hand from its configuration; it listens nowhere yet, and its stores may be away. */
export function createService(config: Config, shared: Shared = {}, seams: Seams = {}): ForwarderInstance {
  const base = createServiceBase({ name: "siem-forwarder", config, schema, migrations, shared, ...seams });
  const users = createUsers(base);
  const deps: Deps = {
    ...base,
    newId,
    users,
    plans: seams.plans ?? createPlans(base.database, config.COFFER_BILLING),
    sealer: createSealer(config.COFFER_SIEM_KEYS),
    destinations: {
      resolve: seams.resolve ?? createResolve(),
      networks: createNetworks(config.COFFER_SIEM_ALLOWED_CIDRS),
    },
    hostName: hostNameOf(config.COFFER_BASE_URL),
    outgoingMilliseconds: seams.outgoingMilliseconds,
  };
  answerRequests(deps);
  observeDrills(base.telemetry, base.database.pool);
  observePartitions(base.telemetry, base.database.pool);
  // Both at once at the start: a rotation of the keys takes effect, and a replica that restarts
  // often sweeps too.
  const sweepers = [resealSweep(deps), partitionSweep(deps)].map((sweep) => startSweeper(sweep, base.telemetry.log));
  for (const sweeper of sweepers) sweeper.nudge();
  const delivery: DeliveryDeps = {
    ...deps,
    deliveries: createDeliveryStore(base.database),
    replicaId: newId(),
    metrics: createDeliveryMetrics(base.telemetry),
    random: seams.random ?? Math.random,
  };
  const forwarder = startForwarder(delivery, {
    everyMilliseconds: seams.lookMilliseconds,
    timeoutMilliseconds: seams.outgoingMilliseconds,
  });
  const refusals = refusalsOf(deps);
  const service = buildService(base, {
    routes,
    deps,
    onRefused: (route, call, error) => recordRefusal(refusals, route, call, error),
    drain: (seconds) => forwarder.close(seconds),
    async close() {
      users.close();
      await Promise.all(sweepers.map((sweeper) => sweeper.close()));
      // Cuts the remaining requests.
      await forwarder.close(0);
    },
  });
  return { ...service, forwarder };
}

/** The host of the canonical base address. */
function hostNameOf([canonical]: readonly string[]): string {
  return canonical === undefined ? "localhost" : new URL(canonical).hostname;
}
