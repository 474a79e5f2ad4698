import { createMigrationCheck } from "@coffer/postgres";
import type { Readiness } from "@coffer/telemetry";
import type { ServiceBase } from "./service-base.ts";

type Stores = Pick<ServiceBase, "bus" | "database" | "migrations" | "redis">;

/**
 * Makes the check whether a service can do its work: without Postgres, or before its migrations, it cannot. Without the
 * bus what must ask another service fails, and without Redis each replica limits for itself, but it stays where it is:
 * it is degraded.
 */
export function createReadiness({ database, migrations, bus, redis }: Stores): () => Promise<Readiness> {
  const isMigrated = createMigrationCheck(database.pool, migrations);
  return async () => {
    const postgres = await isMigrated().then(
      (migrated) => (migrated ? "ok" : "not migrated"),
      () => "down",
    );
    const nats = bus.connected ? "ok" : "down";
    const redisState = redis.status === "ready" ? "ok" : "down";
    return {
      ready: postgres === "ok",
      degraded: nats !== "ok" || redisState !== "ok",
      checks: { postgres, nats, redis: redisState },
    };
  };
}
