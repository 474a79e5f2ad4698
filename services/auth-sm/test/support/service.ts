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
import { createService } from "../../src/service.ts";
import { observeBus, type Observer } from "./observer.ts";

/** The canonical base address of the services under test. */
export const baseUrl = "https://coffer.test";

export interface Stores {
  postgres: TestDatabase;
  nats: TestNats;
  redis: TestServer & Partial<TestRedis>;
}

export interface Replica {
  url: string;
  /** What it has logged, as far as its level lets it. */
  lines: readonly string[];
  /** Its metrics, as they are scraped. */
  metrics(): Promise<string>;
}

/** A running auth-sm with its stores. */
export interface TestService extends Stores {
  url: string;
  clock: Clock;
  observer: Observer;
  /** A further replica on the same stores, with its own configuration and the same clock. */
  replica(environment?: Record<string, string>): Promise<Replica>;
}

/**
 * Real stores, migrated, and one replica that answers. `environment` overrides the configuration,
 * `given` a store.
 */
export async function startAuthSm(
  t: TestScope,
  environment: Record<string, string> = {},
  given: { postgres?: TestDatabase } = {},
): Promise<TestService> {
  const [postgres, nats, redis] = await Promise.all([given.postgres ?? testPostgres(t), testNats(t), testRedis(t)]);
  const clock = createClock();
  const stores = { postgres, nats, redis };
  await migrateService({ url: postgres.url });
  const observer = await observeBus(t, nats);
  const replica = (own: Record<string, string> = {}): Promise<Replica> =>
    startReplica(t, stores, clock, { ...environment, ...own });
  const { url } = await replica();
  return { ...stores, clock, observer, replica, url };
}

/**
 * The configuration of a service on these stores, without limits to speak of unless `environment`
 * sets some.
 */
export function configOf({ postgres, nats, redis }: Stores, environment: Record<string, string> = {}) {
  return readConfig({
    COFFER_PORT: "0",
    COFFER_BASE_URL: baseUrl,
    COFFER_POSTGRES_URL: postgres.url,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify(nats.credentials),
    COFFER_REDIS_URL: redis.urls?.["auth-sm"] ?? redis.url,
    COFFER_LIMIT_STRICT: "1000000",
    COFFER_LIMIT_STANDARD: "1000000",
    COFFER_LIMIT_USER: "1000000",
    COFFER_LOG_LEVEL: "fatal",
    ...environment,
  });
}

async function startReplica(
  t: TestScope,
  stores: Stores,
  clock: Clock,
  environment: Record<string, string>,
): Promise<Replica> {
  const { registry } = createTelemetry({ service: "auth-sm", level: "silent" }).metrics;
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const service = createService(configOf(stores, environment), { registry, destination }, { now: clock.now });
  t.teardown(() => service.close());
  const server = await serve(service.listener, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  t.teardown(() => server.close());
  await until("the stores", async () => (await service.ready()).degraded === false);
  return { url: server.url, lines, metrics: () => registry.metrics() };
}
