import { randomUUID } from "node:crypto";
import { Writable } from "node:stream";
import { connectBus } from "@coffer/bus";
import { revokedSessions, revokedSessionsKey, sessionRevoked, signingKeys } from "@coffer/events";
import { route, serve } from "@coffer/http";
import { migrate } from "@coffer/postgres";
import { createOwnCount } from "@coffer/ratelimit";
import {
  authenticateUser,
  buildService,
  createServiceBase,
  createStatelessBase,
  createUsers,
  readServiceConfig,
  readStatelessConfig,
  type ServiceBase,
  type Users,
} from "@coffer/service";
import { createTelemetry } from "@coffer/telemetry";
import { countedInRedis, testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import { generateSigningKey, signUserToken } from "@coffer/tokens";
import t from "tap";

const [postgres, nats, redis] = await Promise.all([testPostgres(t), testNats(t), testRedis(t)]);
const issuer = "https://coffer.test";
const environment = {
  COFFER_PORT: "0",
  COFFER_BASE_URL: issuer,
  COFFER_POSTGRES_URL: postgres.url,
  COFFER_NATS_URL: nats.url,
  COFFER_NATS_CREDENTIALS: JSON.stringify(nats.credentials),
  COFFER_REDIS_URL: redis.url,
  COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.0/8",
  COFFER_LOG_LEVEL: "fatal",
};
const migrations = { files: [{ name: "0001_first.sql", text: "create table first (id int)" }] };
const greetings = [
  route({
    method: "GET",
    path: "/api/vaults",
    bucket: "user",
    caller: authenticateUser,
    status: 200,
    run: (_deps: { users: Users }, { caller }) => Promise.resolve(caller),
  }),
];

/** Stands in for auth-sm: signs tokens and answers with its keys. */
const key = await generateSigningKey();
const authSm = connectBus({
  url: nats.url,
  service: "auth-sm",
  ...nats.credentials["auth-sm"],
  telemetry: createTelemetry({ service: "auth-sm", level: "silent" }),
});
t.teardown(() => authSm.close());
authSm.reply(signingKeys, () => ({ keys: [{ ...key.publicJwk, kid: key.kid }] }));
const newPerson = () => ({ sub: randomUUID(), sid: randomUUID() });
const signed = (person: { sub: string; sid: string }, secondsAgo = 0) =>
  signUserToken(key, person, {
    issuer,
    lifetimeSeconds: 900,
    now: () => new Date(Date.now() - secondsAgo * 1000),
    newId: () => randomUUID(),
  });

/**
 * A service that greets people, on the test's stores; `closed` records whether the bus was there at
 * its end.
 */
async function startGreeter(own: Record<string, string> = {}) {
  const { registry } = createTelemetry({ service: "vaults", level: "silent" }).metrics;
  const config = readServiceConfig("vaults", { ...environment, COFFER_LOG_LEVEL: "info", ...own });
  let text = "";
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  const base: ServiceBase = createServiceBase({
    name: "vaults",
    config,
    schema: "greeter",
    migrations,
    shared: { registry, destination },
  });
  const users = createUsers(base);
  const closed: boolean[] = [];
  const service = buildService(base, {
    routes: greetings,
    deps: { users },
    close: () => {
      closed.push(base.bus.connected);
      users.close();
      return Promise.resolve();
    },
  });
  const server = await serve(service.listener, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= server.close().then(() => service.close()));
  t.teardown(close);
  await until("it is connected", async () => (await service.ready()).degraded === false);
  const greet = (token: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/api/vaults`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  return { base, service, greet, close, closed, logged: () => text };
}

await t.test("a service is ready once its own migrations are applied", async (t) => {
  const { service } = await startGreeter();
  t.match(await service.ready(), { ready: false, checks: { postgres: "not migrated", nats: "ok", redis: "ok" } });
  await migrate({ url: postgres.url, schema: "greeter", ...migrations });
  t.match(await service.ready(), { ready: true, degraded: false, checks: { postgres: "ok" } });
});

await t.test("a token is verified with auth-sm's keys, and each refusal is counted by its reason", async (t) => {
  const { base, greet } = await startGreeter();
  const [person, gone] = [newPerson(), newPerson()];
  const org = randomUUID();
  const answer = await greet(await signed(person), { "x-coffer-org": org.toUpperCase() });
  t.equal(answer.status, 200);
  t.strictSame(await answer.json(), { kind: "user", userId: person.sub, sessionId: person.sid, orgId: org });
  await base.redis?.zadd(revokedSessionsKey, Date.now(), gone.sid);
  const token = await signed(gone);
  await until("the end of the session is known", async () => (await greet(token)).status === 401);
  t.equal((await greet(await signed(person, 901))).status, 401);
  t.equal((await greet("x")).status, 401);
  const metrics = await base.telemetry.metrics.registry.metrics();
  for (const reason of ["session_ended", "user_expired", "user_malformed"])
    t.match(metrics, `coffer_auth_failures_total{service="vaults",reason="${reason}"} 1`);
});

await t.test("replicas share their configured limits", async (t) => {
  const [one, other] = [await startGreeter({ COFFER_LIMIT_USER: "3" }), await startGreeter({ COFFER_LIMIT_USER: "3" })];
  const token = await signed(newPerson());
  const greetFrom = async ({ greet }: typeof one, address: string): Promise<number> =>
    (await greet(token, { "x-forwarded-for": address })).status;
  const statuses = await countedInRedis([one.logged, other.logged], async (attempt) => {
    const statuses: number[] = [];
    for (const each of [one, other, one, one, other]) statuses.push(await greetFrom(each, `203.0.113.${attempt}`));
    return statuses;
  });
  t.strictSame(statuses, [200, 200, 200, 429, 429]);
  t.equal(await greetFrom(one, "203.0.113.200"), 200);
});

await t.test("a service closes its own parts before the bus and the stores", async (t) => {
  const { base, close, closed } = await startGreeter();
  await close();
  t.strictSame(closed, [true]);
  t.equal(base.bus.connected, false);
  await until("Redis is let go", () => base.redis?.status === "end");
  await t.rejects(base.database.ready());
});

await t.test("a service reads the common and its own variables, and reports all problems at once", (t) => {
  t.equal(readServiceConfig("auth-sm", environment, ["COFFER_SIGNUPS"]).COFFER_SIGNUPS, "open");
  const wrong = { COFFER_PORT: "x", COFFER_SIGNUPS: "maybe" };
  t.throws(() => readServiceConfig("auth-sm", wrong, ["COFFER_SIGNUPS"]), /COFFER_PORT[^]*COFFER_SIGNUPS/);
  t.throws(
    () => readServiceConfig("vaults", { ...environment, COFFER_NATS_CREDENTIALS: "{}" }),
    /COFFER_NATS_CREDENTIALS must have an entry for vaults/,
  );
  t.end();
});

await t.test("a service without Postgres is ready, and degraded without NATS or Redis", async (t) => {
  const { COFFER_POSTGRES_URL: _none, ...rest } = environment;
  const { registry } = createTelemetry({ service: "sync", level: "silent" }).metrics;
  const base = createStatelessBase({ name: "sync", config: readStatelessConfig("sync", rest), shared: { registry } });
  const service = buildService(base, { routes: [], deps: {}, close: () => Promise.resolve() });
  t.match(await service.ready(), { ready: true });
  await until("it has its stores", async () => (await service.ready()).degraded === false);
  t.strictSame(await service.ready(), { ready: true, degraded: false, checks: { nats: "ok", redis: "ok" } });
  await service.close();
  await until("both are gone", async () => (await service.ready()).checks["redis"] === "down");
  t.strictSame(await service.ready(), { ready: true, degraded: true, checks: { nats: "down", redis: "down" } });
});

await t.test("without Redis a service is ready, knows ended sessions, and counts with its process", async (t) => {
  const config = readServiceConfig("vaults", { ...environment, COFFER_REDIS_URL: "none", COFFER_LIMIT_USER: "3" });
  const { registry } = createTelemetry({ service: "vaults", level: "silent" }).metrics;
  t.throws(() => createStatelessBase({ name: "vaults", config, shared: { registry } }), /needs all services in one/);
  authSm.reply(revokedSessions, () => ({ sessions: [], has_more: false }));
  const ownCount = createOwnCount(60);
  const base = createStatelessBase({ name: "vaults", config, shared: { registry, ownCount } });
  const users = createUsers(base);
  const close = (): Promise<void> => {
    users.close();
    return Promise.resolve();
  };
  const parts = { routes: greetings, deps: { users }, close };
  const service = buildService(base, parts);
  const server = await serve(service.listener, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  t.teardown(() => server.close().then(() => service.close()));
  await until("it is connected", async () => (await service.ready()).degraded === false);
  t.strictSame(await service.ready(), { ready: true, degraded: false, checks: { nats: "ok" } });
  const greet = async (token: string, from: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": from };
    return (await fetch(`${server.url}/api/vaults`, { headers })).status;
  };
  const person = newPerson();
  const token = await signed(person);
  let attempt = 0;
  await until("it can know who has logged out", async () => (await greet(token, `198.51.100.${++attempt}`)) === 200);
  const statuses: number[] = [];
  for (let n = 0; n < 5; n += 1) statuses.push(await greet(token, "203.0.113.1"));
  t.strictSame(statuses, [200, 200, 200, 429, 429]);
  authSm.publish(sessionRevoked, {
    session_id: person.sid,
    user_id: person.sub,
    at: new Date().toISOString(),
    reason: "logged_out",
  });
  await until("the end of the session is known", async () => (await greet(token, `192.0.2.${++attempt}`)) === 401);
});
