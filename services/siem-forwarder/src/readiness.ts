import type { Bus } from "@coffer/bus";
import type { Database } from "@coffer/postgres";
import type { Readiness } from "@coffer/telemetry";
import type { Redis } from "ioredis";
import { hasSchema } from "./store/schema.ts";

/**
 * Whether the service can do its work: without Postgres, or before its migrations, it cannot; without the bus nothing
 * comes in and nobody's role can be asked, and without Redis each replica limits for itself, but it stays where it is.
 */
export async function readiness({
  database,
  bus,
  redis,
}: {
  database: Database;
  bus: Bus;
  redis: Redis;
}): Promise<Readiness> {
  const postgres = await hasSchema(database.pool).then(
    (migrated) => (migrated ? "ok" : "not migrated"),
    () => "down",
  );
  const checks = {
    postgres,
    nats: bus.connected ? "ok" : "down",
    redis: redis.status === "ready" ? "ok" : "down",
  };
  return {
    ready: postgres === "ok",
    degraded: checks.nats !== "ok" || checks.redis !== "ok",
    checks,
  };
}
