import { auditAppendOf } from "@coffer/events";
import type { AuditDraft, AuditRecord, ChainHead } from "@coffer/events";
import { serve } from "@coffer/http";
import { checkedFetch } from "@coffer/openapi";
import { Registry } from "@coffer/telemetry";
import type { Readiness } from "@coffer/telemetry";
import type { TestDatabase, TestNats, TestScope, TestRedis } from "@coffer/testkit";
import { testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import { readConfig } from "../src/config.ts";
import { migrateService } from "../src/migrate.ts";
import { createService } from "../src/service.ts";
import type { Seams } from "../src/service.ts";
import type { People, Person } from "./people.ts";
import { issuer, startPeople } from "./people.ts";

export interface Stores<Postgres extends TestDatabase = TestDatabase> {
  postgres: Postgres;
  nats: TestNats;
  redis: TestRedis;
}

export interface AuditAnswer {
  status: number;
  headers: Headers;
  body: { data: AuditRecord[]; next_cursor: string | null; head: ChainHead | null; error?: string; message?: string };
}

/** A running service, with its stores and peers. */
export interface Forwarder<Postgres extends TestDatabase = TestDatabase> extends Stores<Postgres> {
  url: string;
  people: People;
  /** Appends over the bus; resolves with how many were new. */
  append(records: AuditDraft[]): Promise<number>;
  /** `GET /api/org/audit` with this query, as that person. */
  list(
    person: Pick<Person, "token"> | undefined,
    query?: Record<string, string | number>,
    headers?: Record<string, string>,
  ): Promise<AuditAnswer>;
  /** Every record that a person can see, page by page. */
  listAll(person: Person, query?: Record<string, string | number>): Promise<AuditRecord[]>;
  ready(): Promise<Readiness>;
  /** Looks which deliveries are due, and waits until they are done. */
  tick(): Promise<void>;
  registry: Registry;
}

/** Real stores for one test. */
export async function startStores(t: TestScope): Promise<Stores> {
  const [postgres, nats, redis] = await Promise.all([testPostgres(t), testNats(t), testRedis(t)]);
  return { postgres, nats, redis };
}

/**
 * Migrates, starts the service on a free port, and waits until it has its stores.
 * @param ask how its requests are sent; by default each is compared with the description of the interface
 */
export async function startForwarder<Postgres extends TestDatabase>(
  t: TestScope,
  stores: Stores<Postgres>,
  ask: typeof fetch = checkedFetch,
  replica: ReplicaOptions = {},
): Promise<Forwarder<Postgres>> {
  const { postgres, nats, redis } = stores;
  await migrateService({ url: postgres.url });
  const people = await startPeople(t, nats, replica.seams?.now);
  const { service, url, registry } = await startReplica(t, stores, replica);
  await until("the stores answer", async () => {
    const { ready, degraded } = await service.ready();
    return ready && degraded === false && people.bus.connected;
  });

  const append = async (records: AuditDraft[]): Promise<number> =>
    (await people.bus.request(auditAppendOf("auth-sm"), { records }, { timeoutMilliseconds: 30_000 })).stored;

  const list: Forwarder["list"] = async (person, query = {}, headers = {}) => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    const response = await ask(`${url}/api/org/audit?${search.toString()}`, {
      headers: { ...(person === undefined ? {} : { authorization: `Bearer ${person.token}` }), ...headers },
    });
    // The shape is what the tests are about.
    return { status: response.status, headers: response.headers, body: (await response.json()) as AuditAnswer["body"] };
  };

  const listAll: Forwarder["listAll"] = async (person, query = {}) => {
    const records: AuditRecord[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { status, body } = await list(person, {
        limit: 1000,
        ...query,
        ...(cursor === undefined ? {} : { cursor }),
      });
      if (status !== 200) throw new Error(`the list was answered ${status}: ${String(body.message)}`);
      records.push(...body.data);
      cursor = body.next_cursor;
    }
    return records;
  };
  const { ready, forwarder } = service;
  return { postgres, nats, redis, url, people, append, list, listAll, ready, tick: () => forwarder.tick(), registry };
}

/** What a replica has besides its stores. */
export interface ReplicaOptions {
  env?: NodeJS.ProcessEnv;
  seams?: Seams;
}

/** A key for COFFER_SIEM_KEYS. */
export const siemKey = Buffer.alloc(32, 7).toString("base64url");

/** One more process' worth of the same service. */
export async function startReplica(
  t: TestScope,
  { postgres, nats, redis }: Stores,
  { env = {}, seams = {} }: ReplicaOptions = {},
) {
  const config = readConfig({
    COFFER_PORT: "0",
    COFFER_BASE_URL: issuer,
    COFFER_POSTGRES_URL: postgres.url,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify(nats.credentials),
    COFFER_REDIS_URL: redis.urls["siem-forwarder"],
    COFFER_LIMIT_USER: "100000",
    COFFER_LOG_LEVEL: "fatal",
    COFFER_SIEM_KEYS: siemKey,
    ...env,
  });
  const registry = new Registry();
  const service = createService(config, { registry }, seams);
  t.teardown(() => service.close());
  const server = await serve(service.listener, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  t.teardown(() => server.close());
  return { service, url: server.url, registry };
}
