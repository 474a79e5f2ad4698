import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { startBilling } from "./support/billing.ts";
import { subscriptionEvent } from "./support/events.ts";

const day = 24 * 3600;
const billing = await startBilling(t);
const { send, planOf, consumers, clock, recordOf } = billing;
clock.stop();
const now = (): number => Math.floor(clock.now().getTime() / 1000);
const advance = (seconds: number): void => clock.advance(seconds * 1000);
const endsOf = (org: string) =>
  consumers.records.filter(({ org_id, reason }) => org_id === org && reason === "grace_ended");

let made = 0;
async function failedPayment() {
  made += 1;
  const about = { org: randomUUID(), subscription: `sub_${made}`, customer: `cus_${made}` };
  await send(subscriptionEvent({ ...about, event: "created", created: now() - 60 }));
  const failed = subscriptionEvent({ ...about, created: now(), status: "past_due" });
  await send(failed);
  await recordOf(failed.id);
  return about;
}

await t.test(
  "14 days after the first failure the plan becomes free without a further event, at two replicas once",
  async (t) => {
    await billing.replica();
    const about = await failedPayment();
    advance(7 * day);
    // Stripe tries again, and says so again.
    const again = subscriptionEvent({ ...about, created: now(), status: "past_due" });
    await send(again);
    await recordOf(again.id);
    advance(7 * day - 1);
    const witness = await failedPayment();
    t.equal(planOf(about.org), "business");
    advance(1);
    await until("the grace has ended", () => planOf(about.org) === "free");
    await until("it is recorded", () => endsOf(about.org).length > 0);
    t.match(endsOf(about.org), [
      {
        action: "billing.subscription.updated",
        outcome: "success",
        reason: "grace_ended",
        actor: { type: "system", id: "stripe" },
        target: { type: "subscription", id: about.subscription },
        changes: { plan: "free", status: "past_due" },
      },
    ]);
    t.equal(planOf(witness.org), "business", "another's has just begun");
    advance(14 * day);
    await until("the other one ends too", () => endsOf(witness.org).length > 0);
    t.equal(endsOf(about.org).length, 1, "once");
    const paid = subscriptionEvent({ ...about, created: now(), status: "active" });
    await send(paid);
    await until("a payment brings the plan back", () => planOf(about.org) === "business");
  },
);

await t.test("a payment in time ends the count; the next failure begins another", async (t) => {
  const about = await failedPayment();
  advance(10 * day);
  await send(subscriptionEvent({ ...about, created: now(), status: "active" }));
  advance(10 * day);
  const second = subscriptionEvent({ ...about, created: now(), status: "past_due" });
  await send(second);
  await recordOf(second.id);
  const witness = await failedPayment();
  advance(14 * day - 10);
  const later = await failedPayment();
  t.equal(planOf(about.org), "business");
  t.same(endsOf(about.org), []);
  advance(10);
  for (const { org } of [about, witness]) await until("the grace has ended", () => planOf(org) === "free");
  t.equal(planOf(later.org), "business");
});

await t.test("a failure that is heard of after 14 days has no grace left", async (t) => {
  const org = randomUUID();
  const about = { org, subscription: "sub_late", customer: "cus_late" };
  await send(subscriptionEvent({ ...about, event: "created", created: now() - 40 * day }));
  await until("it has its plan", () => planOf(org) === "business");
  const late = subscriptionEvent({ ...about, created: now() - 15 * day, status: "past_due" });
  await send(late);
  t.match(await recordOf(late.id), { changes: { plan: "free", previous_plan: "business" } });
  await until("its end is recorded", () => endsOf(org).length === 1);
  await until("the plan is reported", () => planOf(org) === "free");
});

await t.test("another subscription that is paid keeps the plan", async (t) => {
  const about = await failedPayment();
  const second = subscriptionEvent({ ...about, subscription: "sub_second", prices: ["team"], created: now() });
  await send(second);
  await recordOf(second.id);
  t.equal(planOf(about.org), "business");
  advance(14 * day);
  await until("the lower plan is left", () => planOf(about.org) === "team");
  t.pass("after the grace of the higher one");
});
