import { connectBus } from "@coffer/bus";
import type { Bus } from "@coffer/bus";
import type { AuditDraft, PlanReport } from "@coffer/events";
import { auditAppendOf, planChanged } from "@coffer/events";
import { serve } from "@coffer/http";
import { checkedFetch } from "@coffer/openapi";
import { createTelemetry, Registry } from "@coffer/telemetry";
import type { Readiness } from "@coffer/telemetry";
import type { Clock, TestDatabase, TestNats, TestRedis, TestScope } from "@coffer/testkit";
import { createClock, testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import { readConfig } from "../../src/config.ts";
import { migrateService } from "../../src/migrate.ts";
import { createService } from "../../src/service.ts";
import { secret, sign } from "./events.ts";

export interface Stores<Postgres extends TestDatabase = TestDatabase> {
  postgres: Postgres;
  nats: TestNats;
  redis: TestRedis;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: { received?: boolean; error?: string; message?: string };
}

/** auth-sm's and siem-forwarder's ends of the bus. */
export interface Consumers {
  /** As they came. */
  reports: PlanReport[];
  records: AuditDraft[];
  /** The plan of each organization, by the newest version. */
  plans: Map<string, PlanReport>;
  /** Connects or disconnects the one that takes reports. */
  authSm: { start(): Promise<void>; stop(): Promise<void> };
}

export interface Replica {
  url: string;
  lines: readonly string[];
  ready(): Promise<Readiness>;
  metrics(): Promise<string>;
}

export interface Billing<Postgres extends TestDatabase = TestDatabase> extends Stores<Postgres>, Replica {
  clock: Clock;
  consumers: Consumers;
  replica(environment?: Record<string, string>): Promise<Replica>;
  /** Sends an event as Stripe does, signed with the first secret. */
  send(event: unknown, to?: { url: string }): Promise<Answer>;
  /** The plan that was reported last for an organization; undefined for none. */
  planOf(orgId: string): string | undefined;
  recordOf(eventId: string): Promise<AuditDraft>;
}

/** Migrates, starts the service on real stores, and waits until it has them. */
export async function startBilling(t: TestScope, environment?: Record<string, string>): Promise<Billing>;
export async function startBilling<Postgres extends TestDatabase>(
  t: TestScope,
  environment: Record<string, string>,
  given: { postgres: Postgres },
): Promise<Billing<Postgres>>;
export async function startBilling(
  t: TestScope,
  environment: Record<string, string> = {},
  given: { postgres?: TestDatabase } = {},
): Promise<Billing> {
  const [postgres, nats, redis] = await Promise.all([given.postgres ?? testPostgres(t), testNats(t), testRedis(t)]);
  const stores = { postgres, nats, redis };
  const clock = createClock();
  await migrateService({ url: postgres.url });
  const consumers = await startConsumers(t, nats);
  const replica = (own: Record<string, string> = {}) => startReplica(t, stores, clock, { ...environment, ...own });
  const first = await replica();
  const send = async (event: unknown, { url }: { url: string } = first): Promise<Answer> => {
    const body = JSON.stringify(event);
    return post(url, body, { "stripe-signature": sign(body, { at: clock.now() }) });
  };
  return {
    ...stores,
    ...first,
    clock,
    consumers,
    replica,
    send,
    planOf: (orgId) => consumers.plans.get(orgId)?.plan,
    recordOf: (eventId) =>
      until(`${eventId} is recorded`, () =>
        consumers.records.find(({ changes }) => changes?.["stripe_event"] === eventId),
      ),
  };
}

/** Posts bytes to the webhook; the answer is compared with the description. */
export async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await checkedFetch(`${url}/api/webhooks/stripe`, {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "Stripe/1.0", ...headers },
    body,
  });
  const text = await response.text();
  // The shape is what the tests are about.
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as Answer["body"] };
}

async function startConsumers(t: TestScope, nats: TestNats): Promise<Consumers> {
  const connect = (service: "auth-sm" | "siem-forwarder"): Bus =>
    connectBus({
      url: nats.url,
      service,
      ...nats.credentials[service],
      telemetry: createTelemetry({ service, level: "silent" }),
    });
  const reports: PlanReport[] = [];
  const plans = new Map<string, PlanReport>();
  const records: AuditDraft[] = [];
  const audit = connect("siem-forwarder");
  t.teardown(() => audit.close());
  audit.reply(auditAppendOf("billing-webhook"), ({ records: sent }) => {
    const known = new Set(records.map(({ id }) => id));
    const fresh = sent.filter(({ id }) => !known.has(id));
    records.push(...fresh);
    return { stored: fresh.length };
  });
  let bus: Bus | undefined;
  const authSm: Consumers["authSm"] = {
    async start() {
      const started = connect("auth-sm");
      bus = started;
      started.reply(planChanged, (report) => {
        reports.push(report);
        const before = plans.get(report.org_id);
        const applied = before === undefined || before.version < report.version;
        if (applied) plans.set(report.org_id, report);
        return { applied };
      });
      await until("the bus", () => started.connected);
    },
    async stop() {
      await bus?.close();
      bus = undefined;
    },
  };
  t.teardown(() => authSm.stop());
  await authSm.start();
  await until("the bus", () => audit.connected);
  return { reports, records, plans, authSm };
}

async function startReplica(
  t: TestScope,
  { postgres, nats, redis }: Stores,
  clock: Clock,
  environment: Record<string, string>,
): Promise<Replica> {
  const config = readConfig({
    COFFER_PORT: "0",
    COFFER_BASE_URL: "https://coffer.test",
    COFFER_POSTGRES_URL: postgres.url,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify(nats.credentials),
    COFFER_REDIS_URL: redis.urls["billing-webhook"],
    COFFER_LIMIT_STRICT: "1000000",
    COFFER_STRIPE_WEBHOOK_SECRETS: secret,
    COFFER_LOG_LEVEL: "debug",
    ...environment,
  });
  const registry = new Registry();
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const service = createService(config, { registry, destination }, { now: clock.now, sweepMilliseconds: 50 });
  t.teardown(() => service.close());
  const server = await serve(service.listener, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  t.teardown(() => server.close());
  await until("the stores", async () => (await service.ready()).degraded === false, 60);
  return { url: server.url, lines, ready: () => service.ready(), metrics: () => registry.metrics() };
}
