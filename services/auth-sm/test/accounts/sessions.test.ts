import { revokedSessionsKey } from "@coffer/events";
import pg from "pg";
import { until } from "@coffer/testkit";
import { Redis } from "ioredis";
import t from "tap";
import { call } from "../support/call.ts";
import { logIn, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { clock, observer } = service;
clock.stop();

const refresh = (refresh_token: unknown) => call(service, "POST", "/api/auth/refresh", { body: { refresh_token } });
const account = (token: string) => call(service, "GET", "/api/account", { token });

const client = new pg.Client({ connectionString: service.postgres.url });
await client.connect();
t.teardown(() => client.end());
const redis = new Redis(service.redis.url);
redis.on("error", () => undefined); // it is stopped and started
t.teardown(() => redis.disconnect());
const revoked = (sessionId: string) => redis.zscore(revokedSessionsKey, sessionId);

await t.test("logout ends the session at once and says so once", async (t) => {
  const person = await register(service);
  const other = await logIn(service, person);
  const answer = await call(service, "POST", "/api/auth/logout", { token: person.token });
  t.equal(answer.status, 204);
  t.strictSame(answer.body, {});
  t.equal((await account(person.token)).status, 401);
  t.equal((await refresh(person.refreshToken)).body.error, "invalid_token");
  t.equal((await call(service, "POST", "/api/auth/logout", { token: person.token })).status, 401);
  t.equal((await account(other.token)).status, 200, "another device stays");
  const record = await observer.record("the logout", ({ target }) => target.id === person.sessionId);
  t.match(record, { action: "user.logout", actor: { id: person.userId, session_id: person.sessionId } });
  const news = await until("the news", () => observer.revocations.find((one) => one.session_id === person.sessionId));
  t.equal(news.reason, "logged_out");
  t.ok(await revoked(person.sessionId));
});

await t.test("Redis keeps an ended session for the life of an access token", async (t) => {
  const [first, second] = [await register(service), await register(service)];
  await call(service, "POST", "/api/auth/logout", { token: first.token });
  clock.advance(899_000);
  await call(service, "POST", "/api/auth/logout", { token: second.token });
  t.ok(await revoked(first.sessionId));
  const third = await register(service);
  clock.advance(1001);
  await call(service, "POST", "/api/auth/logout", { token: third.token });
  t.notOk(await revoked(first.sessionId));
  t.ok(await revoked(second.sessionId));
});

await t.test("while Redis is away sessions start, continue and end; Redis gets the ends when it is back", async (t) => {
  const person = await register(service);
  await service.redis.stop();
  const { body } = await refresh(person.refreshToken);
  t.equal((await call(service, "POST", "/api/auth/logout", { token: body.access_token })).status, 204);
  t.equal((await account(person.token)).status, 401);
  await until("the bus has the news", () => observer.revocations.some((one) => one.session_id === person.sessionId));
  await service.redis.start();
  await until("Redis knows", async () => (await revoked(person.sessionId).catch(() => null)) !== null);
});

await t.test("a Redis that refuses gets the end again until it accepts it", async (t) => {
  const person = await register(service);
  await redis.config("SET", "min-replicas-to-write", "1");
  await t.rejects(redis.set("anything", "1"), /NOREPLICAS/);
  t.equal((await call(service, "POST", "/api/auth/logout", { token: person.token })).status, 204);
  t.equal(await revoked(person.sessionId), null);
  await redis.config("SET", "min-replicas-to-write", "0");
  await until("Redis knows", async () => (await revoked(person.sessionId)) !== null);
});
