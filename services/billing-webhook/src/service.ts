import { auditAppend, planChanged } from "@coffer/events";
import { deliverOver, startRelay } from "@coffer/outbox";
import { buildService, createServiceBase, newId, startSweeper } from "@coffer/service";
import type { ServiceInstance, Shared } from "@coffer/service";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { migrations, schema } from "./migrate.ts";
import { createPriceTable } from "./plans/price-table.ts";
import { planSweep } from "./plans/sweep.ts";
import { createEventCount } from "./events/event-count.ts";
import { routes } from "./routes.ts";

/** For tests: the clock, and how often plans without an event are computed. */
export interface Seams {
  now?: () => Date;
  sweepMilliseconds?: number;
}

/** Builds the service by hand from its configuration; it listens nowhere yet, and its stores may be away. */
export function createService(config: Config, shared: Shared = {}, seams: Seams = {}): ServiceInstance {
  const base = createServiceBase({ name: "billing-webhook", config, schema, migrations, shared, ...seams });
  const { bus, database, telemetry } = base;
  const deps: Deps = {
    ...base,
    newId,
    prices: createPriceTable(config.COFFER_STRIPE_PRICES),
    eventCount: createEventCount(telemetry),
  };
  const relay = startRelay({ database, deliver: deliverOver(bus), telemetry, subjects: [auditAppend, planChanged] });
  bus.onConnect(() => relay.nudge());
  const sweepers =
    config.COFFER_BILLING === "off" ? [] : [startSweeper(planSweep(deps, seams.sweepMilliseconds), telemetry.log)];
  return buildService(base, {
    routes,
    deps,
    async close() {
      await Promise.all(sweepers.map((sweeper) => sweeper.close()));
      await relay.close();
    },
  });
}
