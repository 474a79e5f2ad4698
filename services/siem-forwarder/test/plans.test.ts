import { randomUUID } from "node:crypto";
import { siemPlanChanged } from "@coffer/events";
import type { PlanReport } from "@coffer/events";
import { until } from "@coffer/testkit";
import t from "tap";
import { startForwarder, startReplica, startStores } from "./forwarder.ts";
import { hecEndpoint, webhooksAt } from "./delivery/webhooks.ts";

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

await t.test(
  "with billing the reported plan decides which organizations have endpoints; without it all have",
  async (t) => {
    const stores = await startStores(t);
    const service = await startForwarder(t, stores, undefined, { env: { COFFER_BILLING: "stripe" } });
    const orgId = randomUUID();
    const owner = await service.people.add([{ orgId, role: "owner" }]);
    const webhooks = webhooksAt(service.url);
    const set = (plan: PlanReport["plan"], version: number) =>
      service.people.bus.request(siemPlanChanged, { org_id: orgId, plan, version }, { timeoutMilliseconds: 20_000 });
    const refused = { status: 403, body: { error: "plan_required" } };
    t.match(await webhooks.create(owner, hecEndpoint), refused, "never reported: free");
    await set("business", 1);
    t.match(await webhooks.create(owner, hecEndpoint), { status: 201 });
    await set("team", 2);
    t.match(await webhooks.create(owner, hecEndpoint), refused);
    const off = await startReplica(t, stores, { env: { COFFER_BILLING: "off" } });
    await until("it has its stores", async () => (await off.service.ready()).degraded === false);
    t.match(await webhooksAt(off.url).create(owner, hecEndpoint), { status: 201 }, "billing is off");
  },
);
