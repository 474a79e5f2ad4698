import { buildService, createServiceBase, createUsers, newId, startSweeper } from "@coffer/service";
import type { ServiceInstance, Shared } from "@coffer/service";
import type { Config } from "./config.ts";
import { createSealer } from "./credentials/seal.ts";
import type { Deps } from "./deps.ts";
import { resealSweep } from "./endpoints/reseal.ts";
import { migrations, schema } from "./migrate.ts";
import { createNetworks } from "./outgoing/networks.ts";
import type { Resolve } from "./outgoing/resolve.ts";
import { createResolve } from "./outgoing/resolve.ts";
import type { Plans } from "./plans/plans.ts";
import { plansWithoutBilling } from "./plans/plans.ts";
import { recordRefusal } from "./refusals.ts";
import { answerRequests } from "./replies.ts";
import { routes } from "./routes.ts";

/** What a test may set: the clock, how names resolve, the plans of organizations. */
export interface Seams {
  now?: () => Date;
  resolve?: Resolve;
  plans?: Plans;
}

/** Builds the service by hand from its configuration; it listens nowhere yet, and its stores may be away. */
export function createService(config: Config, shared: Shared = {}, seams: Seams = {}): ServiceInstance {
  const base = createServiceBase({ name: "siem-forwarder", config, schema, migrations, shared, ...seams });
  const users = createUsers(base);
  const deps: Deps = {
    ...base,
    newId,
    users,
    plans: seams.plans ?? plansWithoutBilling,
    sealer: createSealer(config.COFFER_SIEM_KEYS),
    destinations: {
      resolve: seams.resolve ?? createResolve(),
      networks: createNetworks(config.COFFER_SIEM_ALLOWED_CIDRS),
    },
    hostName: hostNameOf(config.COFFER_BASE_URL),
  };
  answerRequests(deps);
  const sweeper = startSweeper(resealSweep(deps), base.telemetry.log);
  // A rotation of the keys takes effect at the start.
  sweeper.nudge();
  return buildService(base, {
    routes,
    deps,
    onRefused: (route, call, error) => recordRefusal(deps, route, call, error),
    async close() {
      users.close();
      await sweeper.close();
    },
  });
}

/** The host of the canonical base address. */
function hostNameOf([canonical]: readonly string[]): string {
  return canonical === undefined ? "localhost" : new URL(canonical).hostname;
}
