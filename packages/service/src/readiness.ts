import type { WriteState } from "@coffer/postgres";
import type { Readiness } from "@coffer/telemetry";
import type { ServiceBase } from "./service-base.ts";
import type { StatelessBase } from "./stateless-base.ts";

type Stores = Pick<StatelessBase, "bus" | "redis"> & Partial<Pick<ServiceBase, "isMigrated" | "database">>;

/** The whole check may take 2 s. Whether writes work decides nothing alone. */
const writesMilliseconds = 1000;

/**
 * Makes the readiness check. Without its Postgres, or before its migrations, a service is not
 * ready. While Postgres takes no writes, or without the bus or Redis, it is degraded but ready:
 * what only reads works, requests between services fail, or each replica limits alone.
 */
export function createReadiness({ isMigrated, database, bus, redis }: Stores): () => Promise<Readiness> {
  return async () => {
    const [schema, writes] = await Promise.all([
      isMigrated?.().then(
        (migrated) => (migrated ? "ok" : "not migrated"),
        () => "down",
      ),
      database === undefined ? "ok" : writesOf(database.writeState()),
    ]);
    const postgres = schema === "ok" ? writes : schema;
    const nats = bus.connected ? "ok" : "down";
    const redisState = redis === null ? undefined : redis.status === "ready" ? "ok" : "down";
    return {
      ready: schema === undefined || schema === "ok",
      degraded: nats !== "ok" || redisState === "down" || writes !== "ok",
      checks: {
        ...(postgres === undefined ? {} : { postgres }),
        nats,
        ...(redisState === undefined ? {} : { redis: redisState }),
      },
    };
  };
}

/** `ok` when Postgres does not say soon enough: the other check then says that it is away. */
async function writesOf(state: Promise<WriteState>): Promise<WriteState> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<WriteState>((resolve) => (timer = setTimeout(resolve, writesMilliseconds, "ok")));
  try {
    return await Promise.race([state, late]);
  } catch {
    return "ok";
  } finally {
    clearTimeout(timer);
  }
}
