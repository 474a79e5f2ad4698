import { randomUUID } from "node:crypto";
import { firstPreviousHash, verifyAuditChain } from "@coffer/events";
import { testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import t from "tap";
import { draftsOf } from "../delivery/draft.ts";
import { startForwarder } from "../forwarder.ts";

const [postgres, nats, redis] = await Promise.all([testPostgres(t, { own: true }), testNats(t), testRedis(t)]);
const { people, append, list, listAll, ready } = await startForwarder(t, { postgres, nats, redis });

await t.test(
  "Postgres killed in the middle of appends: what was acknowledged is there, the rest after a retry, once",
  async (t) => {
    const [orgId, otherId] = [randomUUID(), randomUUID()];
    const owner = await people.add([{ orgId, role: "owner" }]);
    const other = await people.add([{ orgId: otherId, role: "owner" }]);
    const batches = Array.from({ length: 30 }, () => [...draftsOf(orgId, 20), ...draftsOf(otherId, 20)]);
    const acknowledged = new Set<(typeof batches)[number]>();
    const errors: unknown[] = [];
    const send = async (batch: (typeof batches)[number]): Promise<void> => {
      try {
        await append(batch);
        acknowledged.add(batch);
      } catch (error) {
        errors.push(error);
      }
    };
    const sending = Promise.all(batches.map(send));
    await until("some are acknowledged", () => acknowledged.size >= 5);
    await postgres.kill();
    await sending;
    t.ok(errors.length > 0, "the kill came in time");
    for (const error of errors) t.match(error, { code: "unavailable" });
    t.match(await list(owner), { status: 503, body: { error: "unavailable" } });
    t.match(await ready(), { ready: false, checks: { postgres: "down", nats: "ok", redis: "ok" } });

    await postgres.start();
    await until("the service has Postgres again", async () => (await ready()).ready);
    const kept = new Set((await listAll(owner)).map(({ id }) => id));
    for (const batch of acknowledged) t.ok(batch.slice(0, 20).every(({ id }) => kept.has(id)));
    for (const batch of batches) await append(batch);
    for (const person of [owner, other]) {
      const records = await listAll(person);
      t.equal(records.length, 600);
      t.equal(new Set(records.map(({ id }) => id)).size, 600);
      t.match(verifyAuditChain({ seq: 0, hash: firstPreviousHash }, records), { seq: 600 });
    }
  },
);

await t.test("without NATS or Redis the service stays ready, degraded", async (t) => {
  t.match(await ready(), { ready: true, degraded: false, checks: { postgres: "ok", nats: "ok", redis: "ok" } });
  await redis.stop();
  await until("Redis is missed", async () => (await ready()).checks["redis"] === "down");
  t.match(await ready(), { ready: true, degraded: true });
  await redis.start();
  await until("Redis is back", async () => (await ready()).checks["redis"] === "ok");
  await nats.stop();
  await until("NATS is missed", async () => (await ready()).checks["nats"] === "down");
  t.match(await ready(), { ready: true, degraded: true });
  await nats.start();
  await until("NATS is back", async () => (await ready()).degraded === false);
});
