import { randomUUID } from "node:crypto";
import { testPostgres, until } from "@coffer/testkit";
import t from "tap";
import { startBilling } from "./support/billing.ts";
import { subscriptionEvent, unixNow } from "./support/events.ts";

const postgres = await testPostgres(t, { own: true });
const billing = await startBilling(t, {}, { postgres });
const { send, planOf, consumers, nats, redis, recordOf } = billing;

const newSubscription = () => ({ org: randomUUID(), subscription: `sub_${randomUUID()}`, customer: null });
const first = newSubscription();
await send(subscriptionEvent({ ...first, created: unixNow() - 100 }));
await until("the first plan", () => planOf(first.org) === "business");

await t.test("without NATS events are taken, and reported when it is back", async (t) => {
  await nats.stop();
  await until("NATS is missed", async () => (await billing.ready()).checks["nats"] === "down");
  t.match(await billing.ready(), { ready: true, degraded: true });
  const one = newSubscription();
  const event = subscriptionEvent(one);
  t.match(await send(event), { status: 200 });
  t.match(await send(event), { status: 200 }, "Stripe may send it again");
  await nats.start();
  await until("it is reported", () => planOf(one.org) === "business", 60);
  await recordOf(event.id);
  t.equal(consumers.records.filter(({ org_id }) => org_id === one.org).length, 1);
});

await t.test("without auth-sm reports wait, the newest counts, and the audit goes on", async (t) => {
  await consumers.authSm.stop();
  const one = newSubscription();
  const created = unixNow();
  const events = ["team", "enterprise", "business"].map((key, at) =>
    subscriptionEvent({ ...one, created: created + at, prices: [key] }),
  );
  for (const event of events) t.match(await send(event), { status: 200 });
  for (const { id } of events) await recordOf(id);
  t.equal(planOf(one.org), undefined);
  await consumers.authSm.start();
  await until("the last report counts", () => planOf(one.org) === "business", 60);
  const versions = consumers.reports.filter(({ org_id }) => org_id === one.org).map(({ version }) => version);
  t.same(
    versions,
    versions.toSorted((a, b) => a - b),
  );
  t.equal(new Set(versions).size, versions.length, "each change has a version of its own");
});

await t.test("without Postgres an event is 503, so that Stripe sends it again, and nothing is half-done", async (t) => {
  const one = newSubscription();
  const event = subscriptionEvent(one);
  await postgres.kill();
  const answer = await send(event);
  t.match(answer, { status: 503, body: { error: "unavailable" } });
  t.ok(Number(answer.headers.get("retry-after")) > 0);
  t.match(await billing.ready(), { ready: false });
  await postgres.start();
  await until("Postgres is back", async () => (await billing.ready()).ready, 60);
  t.match(await send(event), { status: 200 });
  await until("it is reported", () => planOf(one.org) === "business", 60);
  await recordOf(event.id);
  t.equal(consumers.records.filter(({ org_id }) => org_id === one.org).length, 1);
});

await t.test("without Redis events are taken", async (t) => {
  await redis.stop();
  const one = newSubscription();
  t.match(await send(subscriptionEvent(one)), { status: 200 });
  await until("it is reported", () => planOf(one.org) === "business");
  await redis.start();
});
