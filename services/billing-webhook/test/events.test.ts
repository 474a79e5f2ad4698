import { randomUUID } from "node:crypto";
import { testPostgres, until } from "@coffer/testkit";
import t from "tap";
import { startBilling } from "./support/billing.ts";
import { invoiceEvent, newEventId, subscriptionEvent, unixNow } from "./support/events.ts";
import type { SubscriptionFacts } from "./support/events.ts";

const billing = await startBilling(t, {
  COFFER_STRIPE_PRICES: JSON.stringify({
    "team-monthly": "team",
    price_by_id: "business",
    both: "enterprise",
    price_both: "team",
    business: "team",
    constructor: "business",
    nothing: "free",
  }),
});
const { send, planOf, recordOf, consumers } = billing;

let made = 0;
/** A subscription of a new organization. */
function ofNewOrg() {
  made += 1;
  return { org: randomUUID(), subscription: `sub_${made}`, customer: `cus_${made}` };
}

/**
 * Sends events about one subscription, a second apart, and waits until the last is recorded.
 * Returns its record.
 */
async function play(of: Partial<SubscriptionFacts>, ...steps: readonly SubscriptionFacts[]) {
  const start = unixNow() - 1000;
  let id = "";
  for (const [at, step] of steps.entries()) {
    id = newEventId();
    const answer = await send(subscriptionEvent({ id, created: start + at, ...of, ...step }));
    if (answer.status !== 200) throw new Error(`an event was answered ${answer.status}`);
  }
  return recordOf(id);
}
const planIs = (org: string, plan: string) => until(`the plan is ${plan}`, () => planOf(org) === plan);

await t.test("an active or trialing subscription gives its plan, and a cancelled one takes it away", async (t) => {
  for (const status of ["active", "trialing"]) {
    const one = ofNewOrg();
    await play(one, { event: "created", status });
    await planIs(one.org, "team");
    t.match(await play(one, { event: "deleted", created: unixNow() }), { action: "billing.subscription.cancelled" });
    await planIs(one.org, "free");
  }
});

await t.test("other states give no plan; what is not known, and incomplete, change nothing", async (t) => {
  for (const status of ["unpaid", "paused", "incomplete_expired", "canceled"]) {
    const one = ofNewOrg();
    await play(one, { event: "created" });
    await planIs(one.org, "team");
    await play(one, { status, created: unixNow() });
    await planIs(one.org, "free");
  }
  for (const status of ["incomplete", "of_the_future"]) {
    const one = ofNewOrg();
    await play(one, { event: "created" }, { status }, { event: "updated", created: 1000 });
    await planIs(one.org, "team");
    const fresh = ofNewOrg();
    await play(fresh, { event: "created", status });
    await planIs(fresh.org, "free");
  }
  t.pass("all of them");
});

await t.test(
  "a price gives its plan by lookup key, then by id, then by a lookup key that is a plan's name",
  async (t) => {
    const cases: [prices: SubscriptionFacts["prices"], plan: string][] = [
      [["team-monthly"], "team"],
      [[{ id: "price_by_id" }], "business"],
      [[{ id: "price_by_id", lookup_key: "unknown" }], "business"],
      [[{ id: "price_both", lookup_key: "both" }], "enterprise"],
      [[{ id: "price_x", lookup_key: "enterprise" }], "enterprise"],
      [[{ id: "price_x", lookup_key: "business" }], "team"],
      [[{ id: "price_x", lookup_key: "constructor" }], "business"],
      [["nothing"], "free"],
      [["team-monthly", "enterprise", { id: "price_by_id" }], "enterprise"],
    ];
    for (const [prices = [], plan] of cases) {
      const one = ofNewOrg();
      t.match(await play(one, { prices }), { outcome: "success", changes: { plan } }, JSON.stringify(prices));
      await planIs(one.org, plan);
    }
  },
);

await t.test("a record names at most 20 unknown prices, however many an event has", async (t) => {
  const prices = Array.from({ length: 4_000 }, (_, at) => ({ id: `price_${at}_${"x".repeat(100)}` }));
  const { changes } = await play(ofNewOrg(), { prices });
  t.same(
    changes?.["unknown_prices"],
    prices.slice(0, 20).map(({ id }) => id),
  );
});

await t.test(
  "a price that gives no plan is a failure on record; it leaves the plan, or what other items give",
  async (t) => {
    const one = ofNewOrg();
    await play(one, {});
    const failure = {
      outcome: "failure",
      reason: "unknown_price",
      changes: { plan: "team", unknown_prices: ["price_y"] },
    };
    t.match(await play(one, { prices: [{ id: "price_y", lookup_key: "toString" }], created: unixNow() }), failure);
    t.equal(planOf(one.org), "team");
    const other = ofNewOrg();
    t.match(await play(other, { prices: ["team-monthly", { id: "price_y", lookup_key: null }] }), failure);
    await planIs(other.org, "team");
    const fresh = ofNewOrg();
    t.match(await play(fresh, { prices: [{ id: "price_y" }] }), { outcome: "failure", changes: { plan: "free" } });
    const removed = subscriptionEvent({ ...ofNewOrg(), prices: ["enterprise", "team-monthly"] });
    Object.assign(removed.data.object.items.data[0] ?? {}, { deleted: true });
    await send(removed);
    t.match(
      await recordOf(removed.id),
      { outcome: "success", changes: { plan: "team" } },
      "a deleted item does not count",
    );
  },
);

await t.test(
  "of several subscriptions the highest plan counts, and each counts for its own organization",
  async (t) => {
    const one = ofNewOrg();
    const second = { ...one, subscription: `${one.subscription}_b` };
    await play(one, {});
    await play(second, { prices: ["enterprise"] });
    await planIs(one.org, "enterprise");
    await play(second, { event: "deleted", created: unixNow() });
    await planIs(one.org, "team");
    const foreign = { ...one, org: randomUUID(), subscription: `${one.subscription}_c` };
    await play(foreign, { prices: ["enterprise"] });
    await planIs(foreign.org, "enterprise");
    t.equal(planOf(one.org), "team", "the same customer pays for two organizations");
  },
);

await t.test("a subscription that moves to another organization takes its plan along", async (t) => {
  const one = ofNewOrg();
  const org = randomUUID();
  await play(one, {});
  await planIs(one.org, "team");
  await play({ ...one, org }, { created: unixNow() });
  await planIs(org, "team");
  await planIs(one.org, "free");
  await play(one, { created: 1000 });
  t.equal(planOf(org), "team", "an older event does not take it back");
});

await t.test(
  "an event without metadata belongs to the organization of its subscription, or of its customer",
  async (t) => {
    const one = ofNewOrg();
    await play(one, { event: "created" });
    t.match(await play({ ...one, org: null, customer: null }, { prices: ["enterprise"], created: unixNow() }), {
      org_id: one.org,
      changes: { plan: "enterprise", previous_plan: "team" },
    });
    const second = { ...one, org: null, subscription: `${one.subscription}_b` };
    t.match(await play(second, {}), { org_id: one.org });
    const foreign = { ...ofNewOrg(), org: "not-a-uuid" };
    const event = subscriptionEvent(foreign);
    t.match(await send(event), { status: 200 });
    t.match(await billing.metrics(), /outcome="unknown_org"} 1/);
    t.notOk(consumers.records.some(({ changes }) => changes?.["stripe_event"] === event.id));
  },
);

await t.test("events that came before the organization was known count once it is", async (t) => {
  const one = ofNewOrg();
  const start = unixNow() - 100;
  await send(subscriptionEvent({ ...one, org: null, event: "updated", created: start + 5, prices: ["enterprise"] }));
  await play(one, { event: "created", created: start });
  await planIs(one.org, "enterprise");
  const bought = ofNewOrg();
  await send(subscriptionEvent({ ...bought, org: null }));
  const named = invoiceEvent({ ...bought, subscription: null, org: bought.org });
  await send(named);
  t.match(await recordOf(named.id), { org_id: bought.org });
  await planIs(bought.org, "team");
});

await t.test("older and newer forms of the API say the same", async (t) => {
  for (const old of [true, false]) {
    const one = ofNewOrg();
    const created = unixNow();
    const period_end = new Date((created + 30 * 86_400) * 1000).toISOString();
    t.match(await play(one, { old, created }), {
      org_id: one.org,
      changes: { plan: "team", status: "active", period_end },
    });
    for (const [paid, action] of [
      [true, "billing.invoice.paid"],
      [false, "billing.invoice.failed"],
    ] as const) {
      const event = invoiceEvent({ ...one, org: null, old, paid, invoice: "in_7" });
      t.match(await send(event), { status: 200 });
      t.match(await recordOf(event.id), {
        action,
        org_id: one.org,
        outcome: "success",
        target: { type: "invoice", id: "in_7", parent_id: one.subscription },
      });
      const named = invoiceEvent({
        ...ofNewOrg(),
        subscription: "sub_unseen",
        customer: null,
        old,
        paid,
        org: one.org,
      });
      await send(named);
      t.match(await recordOf(named.id), { action, org_id: one.org }, "by the subscription's metadata in the invoice");
    }
    t.equal(planOf(one.org), "team", "a failed invoice alone changes no plan: the subscription's state does");
  }
  const expanded = subscriptionEvent(ofNewOrg());
  Object.assign(expanded.data.object, { customer: { id: "cus_expanded", object: "customer" } });
  t.match(await send(expanded), { status: 200 });
  t.match(await recordOf(expanded.id), { changes: { plan: "team" } });
  const plans = subscriptionEvent(ofNewOrg());
  for (const item of plans.data.object.items.data) Object.assign(item, { plan: item.price, price: undefined });
  await send(plans);
  t.match(await recordOf(plans.id), { changes: { plan: "team" } }, "plans, which were there before prices");
});

await t.test("the record of an event names Stripe as the actor, and nothing that it does not allow", async (t) => {
  const one = ofNewOrg();
  const record = await play(one, { event: "created" });
  t.strictSame(Object.keys(record).sort(), [
    "action",
    "actor",
    "changes",
    "id",
    "org_id",
    "outcome",
    "request",
    "schema",
    "source",
    "target",
    "time",
  ]);
  t.match(record, {
    action: "billing.subscription.created",
    actor: { type: "system", id: "stripe" },
    target: { type: "subscription", id: one.subscription },
    source: { user_agent: "Stripe/1.0" },
    request: { method: "POST", route: "/api/webhooks/stripe", status: 200 },
  });
  t.strictSame(Object.keys(record.changes ?? {}).sort(), ["period_end", "plan", "status", "stripe_event"]);
});

await t.test("an event that came too late is on record as superseded, and changes nothing", async (t) => {
  const one = ofNewOrg();
  await play(one, { prices: ["enterprise"], created: 2000 });
  t.match(await play(one, { event: "created", created: 1000 }), { outcome: "success", reason: "superseded" });
  t.match(await play(one, { event: "updated", created: 1999 }), { reason: "superseded" });
  t.equal(planOf(one.org), "enterprise");
  await play(one, { event: "deleted", created: 3000 });
  t.match(await play(one, { event: "updated", created: 4000 }), { reason: "superseded" }, "a deletion is final");
  await planIs(one.org, "free");
});

await t.test("any other authentic event is 200 and changes nothing", async (t) => {
  const before = consumers.reports.length;
  const whole = subscriptionEvent(ofNewOrg());
  const odd: unknown[] = [
    { id: "evt_1", object: "event", type: "customer.created", created: 1, data: { object: {} } },
    { id: "evt_2", object: "v2.core.event", type: "v1.billing.meter.error_report_triggered", created: "2026-01-01" },
    {},
    [],
    null,
    7,
    "text",
    { type: "customer.subscription.updated" },
    { ...whole, id: "not an id" },
    { ...whole, id: undefined },
    { ...whole, created: "now" },
    { ...whole, created: -1 },
    { ...whole, created: 1e300 },
    { ...whole, data: null },
    { ...whole, data: { object: { ...whole.data.object, id: "sub\u0000" } } },
    { ...whole, data: { object: { ...whole.data.object, status: 3 } } },
    { ...whole, data: { object: { ...whole.data.object, items: { data: "none" } } } },
    { ...whole, data: { object: { ...whole.data.object, items: { data: [{ price: { id: 3 } }] } } } },
    { ...whole, type: "invoice.paid", data: { object: { object: "invoice" } } },
  ];
  for (const event of odd) {
    const answer = await send(event);
    t.equal(answer.status, 200, JSON.stringify(event).slice(0, 80));
    t.strictSame(answer.body, { received: true });
  }
  t.equal(consumers.reports.length, before);
  t.match(await billing.metrics(), /type="other",outcome="ignored"} 7/);
});

await t.test("an event that comes again has no effect, at either replica, also at the same moment", async (t) => {
  const other = await billing.replica();
  const one = ofNewOrg();
  const event = subscriptionEvent({ ...one, event: "created" });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => send(event, at % 2 === 0 ? billing : other)));
  t.ok(answers.every(({ status }) => status === 200));
  await recordOf(event.id);
  t.match(await send({ ...event, data: subscriptionEvent({ ...one, prices: ["enterprise"] }).data }), { status: 200 });
  const last = await play(one, { created: unixNow() + 5 });
  t.match(last, { changes: { plan: "team" } });
  await until("the outbox is empty", () => planOf(one.org) === "team");
  t.equal(consumers.records.filter(({ changes }) => changes?.["stripe_event"] === event.id).length, 1);
  t.equal(consumers.reports.filter(({ org_id }) => org_id === one.org).length, 1);
});

await t.test("different events of one organization at the same moment, at two replicas, end in one plan", async (t) => {
  const other = await billing.replica();
  for (let round = 0; round < 5; round++) {
    const one = ofNewOrg();
    const start = unixNow() - 100;
    const events = [
      subscriptionEvent({ ...one, event: "created", created: start, prices: ["team-monthly"] }),
      subscriptionEvent({ ...one, created: start + 1, prices: ["enterprise"] }),
      subscriptionEvent({ ...one, created: start + 2, prices: [{ id: "price_by_id" }] }),
      subscriptionEvent({ ...one, created: start + 3, prices: ["team-monthly"] }),
      subscriptionEvent({ ...one, created: start + 4, prices: [{ id: "price_by_id" }] }),
    ];
    await Promise.all(events.map((event, at) => send(event, at % 2 === 0 ? billing : other)));
    await Promise.all(events.map(({ id }) => recordOf(id)));
    await planIs(one.org, "business");
  }
  t.pass("each of five times");
});

await t.test("a changed price table counts for what was bought before", async (t) => {
  const postgres = await testPostgres(t);
  const event = subscriptionEvent({ ...ofNewOrg(), prices: [{ id: "price_new" }] });
  const org = event.data.object.metadata.org_id ?? "";
  await t.test("a price that is not known gives no plan", async (t) => {
    const before = await startBilling(t, {}, { postgres });
    await before.send(event);
    await until("it is reported", () => before.planOf(org) === "free");
  });
  await t.test("after the restart it does, without a further event", async (t) => {
    const after = await startBilling(t, { COFFER_STRIPE_PRICES: '{"price_new":"business"}' }, { postgres });
    await until("the plan follows", () => after.planOf(org) === "business");
  });
});
