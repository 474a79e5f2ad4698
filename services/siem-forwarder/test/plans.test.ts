import { randomUUID } from "node:crypto";
import { siemPlanChanged } from "@coffer/events";
import type { PlanReport } from "@coffer/events";
import t from "tap";
import { startForwarder, startStores } from "./forwarder.ts";

const { people } = await startForwarder(t, await startStores(t));
const report = (org_id: string, plan: PlanReport["plan"], version: number) =>
  people.bus.request(siemPlanChanged, { org_id, plan, version }, { timeoutMilliseconds: 20_000 });

await t.test("a reported plan is stored; an older or the same report changes nothing", async (t) => {
  const orgId = randomUUID();
  t.strictSame(await report(orgId, "business", 10), { applied: true });
  t.strictSame(await report(orgId, "free", 9), { applied: false });
  t.strictSame(await report(orgId, "free", 10), { applied: false });
  t.strictSame(await report(orgId, "free", 11), { applied: true });
  t.strictSame(await report(randomUUID(), "team", 1), { applied: true }, "each organization has versions of its own");
});

await t.test("no other service reports plans", async (t) => {
  const attempt = async (): Promise<unknown> =>
    people.bus.request({ ...siemPlanChanged, callers: ["vaults"] }, { org_id: randomUUID(), plan: "free", version: 1 });
  await t.rejects(attempt(), TypeError);
});
