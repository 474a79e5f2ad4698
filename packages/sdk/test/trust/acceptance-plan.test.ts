import t from "tap";
import { noOffers, planAcceptance } from "../../src/sync/acceptance-plan.ts";

/** The ticks at which a request is due, for the offers at each tick. */
function dueAt(offers: readonly (readonly string[])[]): number[] {
  let plan = noOffers;
  return offers.flatMap((ids, at) => {
    plan = planAcceptance(plan, ids);
    return plan.due ? [at] : [];
  });
}
const ticks = (count: number, ...ids: string[]) => Array.from({ length: count }, () => ids);

await t.test("an open offer is requested soon, then ever more seldom, and never less than every half hour", (t) => {
  const due = dueAt(ticks(8640, "a"));
  t.same(due.slice(0, 6), [0, 1, 3, 7, 15, 31]);
  t.ok(due.length < 60, `${due.length} requests a day`);
  t.equal((due.at(-1) ?? 0) - (due.at(-2) ?? 0), 180);
  t.end();
});

await t.test("another offer begins anew; without offers there is no request", (t) => {
  t.same(dueAt([...ticks(3, "a"), ...ticks(3, "b", "a"), ...ticks(2), ...ticks(1, "a")]), [0, 1, 3, 4, 8]);
  t.same(
    dueAt([
      ["a", "b"],
      ["b", "a"],
      ["b", "a"],
    ]),
    [0, 1],
    "their order does not count",
  );
  t.end();
});
