import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { createPriceTable } from "../src/plans/price-table.ts";
import { graceSeconds, subscriptionState } from "../src/plans/subscription-state.ts";
import type { SubscriptionEvent } from "../src/plans/subscription-state.ts";
import { startBilling } from "./support/billing.ts";
import { invoiceEvent, subscriptionEvent } from "./support/events.ts";

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

/** Small numbers by a seed, so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

const prices = createPriceTable({});
const event = (id: string, created: number, status: string, key = "team"): SubscriptionEvent => ({
  id,
  type: "customer.subscription.updated",
  created,
  status,
  prices: [{ id: `price_${key}`, lookup_key: key }],
});

await t.test("a state is the same for every order and number of its events", (t) => {
  const first = { ...event("evt_a", 10, "incomplete"), type: "customer.subscription.created" } as const;
  const last = { ...event("evt_z", 50, "canceled"), type: "customer.subscription.deleted" } as const;
  const lives: [title: string, events: SubscriptionEvent[], now: number, expected: object][] = [
    ["paid", [first, event("evt_b", 10, "active"), event("evt_c", 20, "active", "business")], 60, { plan: "business" }],
    ["deleted", [first, event("evt_b", 60, "active"), last], 60, { plan: "free", status: "canceled" }],
    [
      "updates of one second: the greater id",
      [event("evt_b", 9, "active"), event("evt_c", 9, "unpaid")],
      60,
      { plan: "free" },
    ],
    ["ids go by code units", [event("evt_Z", 9, "unpaid"), event("evt_a", 9, "active")], 60, { plan: "team" }],
    [
      "deleted over updated over created in one second",
      [{ ...event("evt_z", 9, "unpaid"), type: "customer.subscription.created" }, event("evt_a", 9, "active")],
      60,
      { plan: "team" },
    ],
    [
      "the count begins again after a payment",
      [
        event("evt_a", 10, "past_due"),
        event("evt_b", 20, "active"),
        event("evt_c", 30, "past_due"),
        event("evt_d", 40, "past_due"),
      ],
      29 + graceSeconds,
      { plan: "team", pastDueSince: 30 },
    ],
    [
      "unpaid does not end the count",
      [event("evt_a", 10, "past_due"), event("evt_b", 20, "unpaid"), event("evt_c", 30, "past_due")],
      10 + graceSeconds,
      { plan: "free", pastDueSince: 10 },
    ],
    [
      "a price that is not known leaves the plan",
      [
        event("evt_a", 10, "active", "business"),
        event("evt_b", 20, "active", "other"),
        event("evt_c", 30, "past_due", "other"),
      ],
      31,
      { plan: "business", pastDueSince: 30 },
    ],
  ];
  for (const [title, events, now, expected] of lives)
    for (const order of permutations(events))
      t.match(subscriptionState([...order, ...order.slice(0, 1)], prices, now), expected, title);
  t.match(subscriptionState([], prices, 0), { status: undefined, plan: "free" });
  t.end();
});

await t.test("the plan is kept for 14 days to the second", (t) => {
  const events = [event("evt_a", 10, "active"), event("evt_b", 20, "past_due")];
  t.match(subscriptionState(events, prices, 20 + graceSeconds - 1), { plan: "team" });
  t.match(subscriptionState(events, prices, 20 + graceSeconds), { plan: "free", status: "past_due" });
  t.equal(graceSeconds, 14 * 24 * 3600);
  t.end();
});

await t.test("all 120 orders of five events, with repeats, end in one plan with one record each", async (t) => {
  const { send, planOf, consumers } = await startBilling(t);
  const random = createRandom(20_261_124);
  const start = Math.floor(Date.now() / 1000) - 1000;
  const runs = permutations([0, 1, 2, 3, 4]).map((order, number) => {
    const org = randomUUID();
    const about = { org, subscription: `sub_${number}`, customer: `cus_${number}` };
    const isCancelled = number % 2 === 0;
    const events = [
      subscriptionEvent({ ...about, event: "created", created: start, status: "incomplete" }),
      subscriptionEvent({ ...about, created: start, status: "active", prices: ["business"] }),
      invoiceEvent({ ...about, created: start + 1 }),
      invoiceEvent({ ...about, created: start + 2, paid: false }),
      isCancelled
        ? subscriptionEvent({ ...about, event: "deleted", created: start + 3 })
        : subscriptionEvent({ ...about, created: start + 3, status: "past_due", prices: ["enterprise"] }),
    ];
    return { org, order, events, plan: isCancelled ? "free" : "enterprise" };
  });
  const play = async ({ order, events }: (typeof runs)[number]): Promise<void> => {
    for (const [at, index] of order.entries()) {
      await send(events[index]);
      // A delivery whose answer was lost comes again, at any later time.
      if (random(3) === 0) await send(events[order[random(at + 1)] ?? index]);
    }
  };
  for (let at = 0; at < runs.length; at += 4) await Promise.all(runs.slice(at, at + 4).map(play));
  const wanted = runs.length * 5;
  const recorded = (): number => consumers.records.filter(({ action }) => action.startsWith("billing.")).length;
  await until("every event is recorded", () => recorded() >= wanted, 120);
  for (const { org, order, plan } of runs) {
    await until(`${order.join()} ends in ${plan}`, () => planOf(org) === plan);
    t.equal(consumers.records.filter(({ org_id }) => org_id === org).length, 5, order.join());
  }
  t.equal(recorded(), wanted);
});
