import { randomUUID } from "node:crypto";
import { connectBus } from "@coffer/bus";
import { membershipOf, planChanged, type PlanReport, siemPlanChanged } from "@coffer/events";
import { createTelemetry } from "@coffer/telemetry";
import { type TestNats, testPostgres, type TestScope, until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

/** Another service's end of the bus. */
async function connect(t: TestScope, nats: TestNats, service: "billing-webhook" | "siem-forwarder") {
  const telemetry = createTelemetry({ service, level: "silent" });
  const bus = connectBus({ url: nats.url, service, ...nats.credentials[service], telemetry });
  t.teardown(() => bus.close());
  await until("the bus", () => bus.connected);
  return bus;
}

const postgres = await testPostgres(t, { own: true });
const service = await startAuthSm(t, { COFFER_BILLING: "stripe" }, { postgres });
const { nats, observer } = service;
const billing = await connect(t, nats, "billing-webhook");
const passedOn: PlanReport[] = [];
/** siem-forwarder's end: the observer takes its audit. */
async function startSiem(t: TestScope) {
  const bus = await connect(t, nats, "siem-forwarder");
  bus.reply(siemPlanChanged, (report) => {
    passedOn.push(report);
    return { applied: true };
  });
  return bus;
}
const report = (org_id: string, plan: PlanReport["plan"], version: number) =>
  billing.request(planChanged, { org_id, plan, version }, { timeoutMilliseconds: 20_000 });

async function founded() {
  const owner = await register(service, { orgName: "Billed" });
  const { body } = await call(service, "GET", "/api/org", { token: owner.token });
  const planOf = async (): Promise<unknown> => {
    const answer = await call(service, "GET", "/api/org", { token: owner.token });
    return (answer.body as unknown as { plan: string }).plan; // `plan` is what this file is about
  };
  const planForServices = async (): Promise<unknown> => {
    const { userId: user_id, sessionId: session_id } = owner;
    const answer = await observer.bus.request(membershipOf, { user_id, session_id });
    return answer.membership?.plan;
  };
  return { owner, orgId: body.id, planOf, planForServices };
}

await t.test(
  "an organization that never had a subscription is free, whatever was stored at its founding",
  async (t) => {
    const { planOf, planForServices, owner } = await founded();
    t.equal(await planOf(), "free");
    t.equal(await planForServices(), "free");
    const { body } = await call(service, "POST", "/api/orgs", { token: owner.token, body: { name: "Second" } });
    t.match(body, { plan: "free" });
  },
);

await t.test("a reported plan counts at once for people and services; an older report changes nothing", async (t) => {
  const siem = await startSiem(t);
  const { orgId, planOf, planForServices } = await founded();
  t.strictSame(await report(orgId, "business", 10), { applied: true });
  t.equal(await planOf(), "business");
  t.equal(await planForServices(), "business");
  for (const version of [9, 10]) t.strictSame(await report(orgId, "enterprise", version), { applied: false });
  t.equal(await planOf(), "business");
  t.strictSame(await report(orgId, "team", 11), { applied: true });
  t.equal(await planOf(), "team");
  await until("both are passed on", () => passedOn.filter(({ org_id }) => org_id === orgId).length === 2);
  t.strictSame(
    passedOn.filter(({ org_id }) => org_id === orgId),
    [
      { org_id: orgId, plan: "business", version: 10 },
      { org_id: orgId, plan: "team", version: 11 },
    ],
  );
  await siem.close();
});

await t.test("reports that come at once in any order end in the newest", async (t) => {
  const { orgId, planOf } = await founded();
  const plans = ["free", "team", "business", "enterprise"] as const;
  const versions = [4, 2, 8, 1, 7, 3, 6, 5];
  await Promise.all(versions.map((version) => report(orgId, plans[version % 4] ?? "free", version)));
  t.equal(await planOf(), "free");
});

await t.test("a plan may be reported before its organization exists", async (t) => {
  const id = randomUUID();
  await report(id, "enterprise", 1);
  const owner = await register(service);
  const { body } = await call(service, "POST", "/api/orgs", { token: owner.token, body: { id, name: "Bought first" } });
  t.match(body, { id, plan: "enterprise" });
});

await t.test("while siem-forwarder is away reports wait for it", async (t) => {
  const { orgId } = await founded();
  await report(orgId, "business", 1);
  t.notOk(passedOn.some(({ org_id }) => org_id === orgId));
  await startSiem(t);
  await until("it is passed on", () => passedOn.some(({ org_id }) => org_id === orgId), 60);
  t.pass("after its return");
});

await t.test("while Postgres is away a report is not acknowledged", async (t) => {
  const { orgId, planOf } = await founded();
  await postgres.kill();
  await t.rejects(report(orgId, "business", 1), { code: "unavailable" });
  await postgres.start();
  await until("it is taken", async () => (await report(orgId, "business", 1).catch(() => null)) !== null, 60);
  t.equal(await planOf(), "business");
});

await t.test("while billing is off every organization is enterprise, and reports are kept for later", async (t) => {
  const { orgId, owner } = await founded();
  await report(orgId, "team", 1);
  const off = await service.replica({ COFFER_BILLING: "off" });
  const at = (url: string) => call({ url }, "GET", "/api/org", { token: owner.token });
  t.match((await at(off.url)).body, { plan: "enterprise" });
  t.match((await at(service.url)).body, { plan: "team" });
});
