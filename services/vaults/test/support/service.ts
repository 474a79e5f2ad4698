import { serve } from "@coffer/http";
import { createTelemetry } from "@coffer/telemetry";
import {
  type Clock,
  createClock,
  type TestDatabase,
  type TestNats,
  testNats,
  testPostgres,
  type TestRedis,
  testRedis,
  type TestScope,
  type TestServer,
  until,
} from "@coffer/testkit";
import { readConfig } from "../../src/config.ts";
import { migrateService } from "../../src/migrate.ts";
import { createService, type Seams } from "../../src/service.ts";
import { type Listeners, startListeners } from "./listeners.ts";
import { issuer, type People, startPeople } from "./people.ts";

export interface Stores<Postgres extends TestDatabase = TestDatabase> {
  postgres: Postgres;
  nats: TestNats;
  redis: TestServer & Partial<TestRedis>;
}

/** One process of the service. */
export interface Replica {
  url: string;
  /** Its log, as far as its level allows. */
  lines: readonly string[];
  /** Its metrics, as in a scrape. */
  metrics(): Promise<string>;
  /** Stops it before the test ends. */
  stop(): Promise<void>;
}

/** A running vaults service with its stores and the services that it talks to. */
export interface TestVaults extends Stores, Pick<Replica, "url" | "metrics"> {
  clock: Clock;
  people: People;
  listeners: Listeners;
  /** Starts another replica on the same stores, with its own configuration and the same clock. */
  replica(environment?: Record<string, string>, seams?: Seams): Promise<Replica>;
}

/** Starts migrated stores and one replica. `environment` overrides the configuration, `given` stores. */
export async function startVaults(
  t: TestScope,
  environment: Record<string, string> = {},
  given: Partial<Stores> = {},
): Promise<TestVaults> {
  const [postgres, nats, redis] = await Promise.all([
    given.postgres ?? testPostgres(t),
    given.nats ?? testNats(t),
    given.redis ?? testRedis(t),
  ]);
  const stores = { postgres, nats, redis };
  const clock = createClock();
  await migrateService({ url: postgres.url });
  const [people, listeners] = await Promise.all([startPeople(t, nats), startListeners(t, nats)]);
  const replica: TestVaults["replica"] = (own = {}, seams = {}) =>
    startReplica(t, stores, { now: clock.now, ...seams }, { ...environment, ...own });
  const { url, metrics } = await replica();
  return { ...stores, clock, people, listeners, replica, url, metrics };
}

/** The configuration of a service on these stores; without `environment` it has practically no limits. */
export function configOf({ postgres, nats, redis }: Stores, environment: Record<string, string> = {}) {
  return readConfig({
    COFFER_PORT: "0",
    COFFER_BASE_URL: issuer,
    COFFER_POSTGRES_URL: postgres.url,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify(nats.credentials),
    COFFER_REDIS_URL: redis.urls?.vaults ?? redis.url,
    COFFER_LIMIT_USER: "1000000",
    COFFER_LOG_LEVEL: "fatal",
    ...environment,
  });
}

async function startReplica(
  t: TestScope,
  stores: Stores,
  seams: Seams,
  environment: Record<string, string>,
): Promise<Replica> {
  const { registry } = createTelemetry({ service: "vaults", level: "silent" }).metrics;
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const service = createService(configOf(stores, environment), { registry, destination }, seams);
  const server = await serve(service.listener, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= server.close().then(() => service.close()));
  t.teardown(stop);
  await until("the stores", async () => (await service.ready()).degraded === false);
  return { url: server.url, lines, metrics: () => registry.metrics(), stop };
}
