import { randomBytes } from "node:crypto";
import { type ServiceName, serviceNames } from "@coffer/events";
import { type PreparedDatabase, prepareDatabase } from "@coffer/stores";
import { type TestNats, testNats, testPostgres, type TestRedis, testRedis, type TestScope } from "@coffer/testkit";
import { schemaOwners } from "../../src/data/local-stores.ts";
import type { EnvironmentOptions } from "../../src/services/service-environment.ts";

/** What a replica is given of the stores. */
export type ReplicaStores = EnvironmentOptions["stores"];

export interface TestStores {
  stores: ReplicaStores;
  /** The superuser's URL of the database. */
  databaseUrl: string;
}

const password = (): string => `p${randomBytes(18).toString("hex")}`;

/** A password for each service. */
export function newPasswords(): Record<ServiceName, string> {
  return Object.fromEntries(serviceNames.map((name) => [name, password()])) as Record<ServiceName, string>; // one each
}

export interface StoreParts {
  /** The superuser's URL of the database. */
  databaseUrl: string;
  /** The URL of each service's own role, by schema. */
  postgresUrls: Record<string, string>;
  nats: Pick<TestNats, "url" | "credentials">;
  redis: Pick<TestRedis, "url" | "urls">;
}

/** The stores of an installation, as replicas are given them. */
export function storesOf({ databaseUrl, postgresUrls, nats, redis }: StoreParts): ReplicaStores {
  return {
    urls: { postgres: databaseUrl, nats: nats.url, redis: redis.url },
    postgresUrls,
    redisUrls: redis.urls,
    natsCredentials: nats.credentials,
    pids: () => ({}),
    stop: () => Promise.resolve(),
  };
}

/**
 * Postgres, NATS and Redis of this test, with a role, a schema and users for each service. `given`
 * is used instead of a single server.
 */
export async function testStores(
  t: TestScope,
  given: { postgres?: { url: string }; nats?: StoreParts["nats"] } = {},
): Promise<TestStores> {
  const { postgres = testPostgres(t, { own: true }), nats = testNats(t) } = given;
  const [server, bus, redis] = await Promise.all([postgres, nats, testRedis(t)]);
  const { url: databaseUrl, urls: postgresUrls } = await newDatabase(server.url);
  return { databaseUrl, stores: storesOf({ databaseUrl, postgresUrls, nats: bus, redis }) };
}

/** Makes the database of an installation with a role and a schema for each service. */
export function newDatabase(serverUrl: string, passwords = newPasswords()): Promise<PreparedDatabase> {
  return prepareDatabase({
    url: serverUrl,
    database: "coffer",
    owners: schemaOwners({ postgres: passwords }),
    extensions: ["pg_trgm"],
  });
}
