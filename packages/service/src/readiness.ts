import type { Readiness } from "@coffer/telemetry";
import type { ServiceBase } from "./service-base.ts";
import type { StatelessBase } from "./stateless-base.ts";

type Stores = Pick<StatelessBase, "bus" | "redis"> & Partial<Pick<ServiceBase, "isMigrated">>;

/**
 * Makes the check whether a service can do its work: without the Postgres that it has, or before its migrations, it
 * cannot. Without the bus what must ask another service fails, and while Redis is away each replica limits for itself, but
 * it stays where it is: it is degraded. A service without Redis has no check of it.
 */
export function createReadiness({ isMigrated, bus, redis }: Stores): () => Promise<Readiness> {
  return async () => {
    const postgres = await isMigrated?.().then(
      (migrated) => (migrated ? "ok" : "not migrated"),
      () => "down",
    );
    const nats = bus.connected ? "ok" : "down";
    const redisState = redis === null ? undefined : redis.status === "ready" ? "ok" : "down";
    return {
      ready: postgres === undefined || postgres === "ok",
      degraded: nats !== "ok" || redisState === "down",
      checks: {
        ...(postgres === undefined ? {} : { postgres }),
        nats,
        ...(redisState === undefined ? {} : { redis: redisState }),
      },
    };
  };
}
