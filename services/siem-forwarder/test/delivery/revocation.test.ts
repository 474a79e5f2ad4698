import { randomUUID } from "node:crypto";
import { revokedSessionsKey } from "@coffer/events";
import { Redis } from "ioredis";
import { until } from "@coffer/testkit";
import { checkedFetch } from "@coffer/openapi";
import t from "tap";
import { draftsOf } from "./draft.ts";
import { startForwarder, startReplica, startStores } from "../forwarder.ts";
import type { Person } from "../people.ts";

const stores = await startStores(t);
const { nats, redis, people, append, list, ready } = await startForwarder(t, stores);
const orgId = randomUUID();
await append(draftsOf(orgId, 1));

const statusOf = async (person: Person): Promise<number> => (await list(person)).status;

/**
 * Resolves when a person is refused with 401. It takes half a second; the time is for a machine
 * that stalls, and less than the 30 s after which everything is read anyhow.
 */
const refused = (person: Person) => until("the session is refused", async () => (await statusOf(person)) === 401, 10);

async function revokeInRedis({ sessionId }: Person): Promise<void> {
  const client = new Redis(redis.url);
  await client.zadd(revokedSessionsKey, Date.now(), sessionId);
  client.disconnect();
}

const upTo = (which: "redis" | "nats", state: "ok" | "down") =>
  until(`${which} is ${state}`, async () => (await ready()).checks[which] === state);

// auth-sm still answers that the sessions are valid: the received revocations refuse them.

await t.test("a session revoked in Redis alone is refused within a second", async (t) => {
  const person = await people.add([{ orgId, role: "owner" }]);
  const other = await people.add([{ orgId, role: "owner" }]);
  t.equal(await statusOf(person), 200);
  await revokeInRedis(person);
  await t.resolves(refused(person));
  t.equal(await statusOf(other), 200, "no other session is revoked");
});

await t.test("a session revoked over the bus alone, with Redis away, is refused within a second", async (t) => {
  await redis.stop();
  await upTo("redis", "down");
  const person = await people.add([{ orgId, role: "owner" }]);
  t.equal(await statusOf(person), 200, "without Redis everything works");
  await people.publishRevocation(person);
  await t.resolves(refused(person));
  await redis.start();
  await upTo("redis", "ok");
  t.equal(await statusOf(person), 401, "what Redis does not know is not forgotten");
});

await t.test("what was revoked while the bus was away is known from Redis when it is back", async (t) => {
  const person = await people.add([{ orgId, role: "owner" }]);
  t.equal(await statusOf(person), 200);
  await nats.stop();
  await upTo("nats", "down");
  await revokeInRedis(person);
  await t.resolves(refused(person), "and at once, although auth-sm cannot be reached");
  await nats.start();
  await upTo("nats", "ok");
  await until("the bus has auth-sm again", () => people.bus.connected);
  t.equal(await statusOf(person), 401);
});

await t.test("with both away all callers are refused, and accepted again when they are back", async (t) => {
  const person = await people.add([{ orgId, role: "owner" }]);
  t.equal(await statusOf(person), 200);
  await Promise.all([nats.stop(), redis.stop()]);
  await Promise.all([upTo("nats", "down"), upTo("redis", "down")]);
  const { status, headers, body } = await list(person);
  t.equal(status, 503);
  t.equal(body.error, "unavailable");
  t.match(headers.get("retry-after"), /^\d+$/);
  // Five seconds later it is not the question about the role that fails, but the one whether the
  // session lasts.
  await until("it is the session that cannot be known", async () =>
    /session/.test(String((await list(person)).body.message)),
  );
  t.equal(await statusOf(person), 503);
  await Promise.all([nats.start(), redis.start()]);
  await Promise.all([upTo("nats", "ok"), upTo("redis", "ok")]);
  await until("the bus has auth-sm again", () => people.bus.connected);
  await until("it is known again who may come in", async () => (await statusOf(person)) === 200);
});

await t.test("who starts while Redis is away knows from auth-sm which sessions have ended", async (t) => {
  const [first, second, other] = [
    await people.add([{ orgId, role: "owner" }]),
    await people.add([{ orgId, role: "owner" }]),
    await people.add([{ orgId, role: "owner" }]),
  ];
  people.revoke(first);
  people.revoke(second);
  await redis.stop();
  t.teardown(() => redis.start());
  const replica = await startReplica(t, stores);
  const statusThere = async ({ token }: Person): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await checkedFetch(`${replica.url}/api/org/audit`, { headers })).status;
  };
  await until("a caller is accepted", async () => {
    t.not(await statusThere(first), 200, "never for a moment");
    return (await statusThere(other)) === 200;
  });
  t.same([await statusThere(first), await statusThere(second)], [401, 401]);
});
