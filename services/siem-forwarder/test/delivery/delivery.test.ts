import type { AuditRecord } from "@coffer/events";
import { auditDraft } from "@coffer/events";
import { until } from "@coffer/testkit";
import t from "tap";
import { hecToken, startHec } from "./receivers/vendors.ts";
import { idsOf, startSiem } from "./siem.ts";

const { clock, plans, webhooks, company, tick, listAll, registry, pass } = await startSiem(t);
const day = 24 * 60 * 60;
const to = (url: string) => ({ format: "hec", url, credentials: { token: hecToken } });
const failedAction = "siem.webhook.delivery.failed";

await t.test("records after the creation arrive once, in order, unchanged", async (t) => {
  const splunk = await startHec(t);
  const { owner, record } = await company();
  await record(3);
  await tick();
  await webhooks.create(owner, to(splunk.url));
  const ids = await record(1_201);
  await tick();
  t.same(idsOf(splunk.taken), ids);
  t.same(splunk.taken, (await listAll(owner)).slice(4));
  const sizes = splunk.requests.map(({ body }) => body.length);
  t.ok(sizes.length >= 3 && sizes.every((size) => size <= 512_000), String(sizes));
  await tick();
  t.equal(splunk.requests.length, sizes.length, "nothing waits");
  const [endpoint] = await webhooks.list(owner);
  t.same(endpoint?.last_delivery, { status: 200, at: endpoint?.last_delivery?.at, error: null });
  const metrics = await registry.metrics();
  t.match(metrics, /coffer_siem_deliveries_total\{.*format="hec",outcome="delivered"\} [1-9]/);
  t.match(metrics, /coffer_siem_backlog\{.*format="ecs"\} 0/);
});

await t.test("control characters and line breaks of a record arrive as they are stored", async (t) => {
  const splunk = await startHec(t);
  const { owner, record } = await company();
  await webhooks.create(owner, to(splunk.url));
  const odd = "a\u001eb\nc\u2028d\u0000";
  const ids = [...(await record(2, { changes: { [odd]: odd } })), ...(await record(1))];
  await tick();
  t.same(idsOf(splunk.taken), ids);
  t.same(splunk.taken, (await listAll(owner)).slice(1));
});

await t.test("settings that change during a delivery count from the batch after the next", async (t) => {
  const [one, two] = [await startHec(t), await startHec(t)];
  const { owner, record } = await company();
  const { id } = (await webhooks.create(owner, to(one.url))).body;
  const ids = await record(2_100);
  one.interfere = async () => {
    if (one.requests.length === 1) await webhooks.change(owner, id, to(two.url));
    return null;
  };
  await tick();
  const taken = [...idsOf(one.taken), ...idsOf(two.taken)].filter((each) => ids.includes(each));
  t.same(taken, ids, "in order, and each once");
  t.ok(one.requests.length <= 2, `${one.requests.length} requests to the former address`);
});

await t.test("a batch has at most 500 records and 512 KB", async (t) => {
  const splunk = await startHec(t);
  const { owner, record } = await company();
  await webhooks.create(owner, to(splunk.url));
  const long = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`member_${n}`, "x".repeat(1_000)]));
  const ids = await record(60, { changes: long });
  const more = await record(501);
  await tick();
  t.same(idsOf(splunk.taken), [...ids, ...more]);
  for (const { body } of splunk.requests) {
    t.ok(body.length <= 512_000, `${body.length} bytes`);
    t.ok(body.toString().split('"event":').length <= 501);
  }
});

await t.test("failures are tried again after 1 s, 5 s, 30 s, 2 min, 10 min, 30 min and then hourly", async (t) => {
  const splunk = await startHec(t);
  const { owner, record } = await company();
  const { id } = (await webhooks.create(owner, to(splunk.url))).body;
  const ids = await record(2);
  splunk.interfere = () => ({ status: 503 });
  await tick();
  for (const [n, wait] of [1, 5, 30, 120, 600, 1_800, 3_600, 3_600].entries()) {
    await pass(wait - 0.001);
    await tick();
    t.equal(splunk.requests.length, n + 1, `not yet after ${wait} s`);
    await pass(0.001);
    await tick();
    t.equal(splunk.requests.length, n + 2, `after ${wait} s`);
  }
  const [endpoint] = await webhooks.list(owner);
  t.match(endpoint, { id, enabled: true, last_delivery: { status: 503, error: "the endpoint answered 503" } });
  splunk.interfere = null;
  await pass(3_600);
  await tick();
  t.same(idsOf(splunk.taken), ids);
  splunk.interfere = () => ({ status: 500 });
  await record(1);
  await tick();
  const before = splunk.requests.length;
  await pass(1);
  await tick();
  t.equal(splunk.requests.length, before + 1, "the schedule begins again after a success");
});

await t.test("Retry-After takes the place of the wait, up to one hour; a change of the endpoint ends it", async (t) => {
  const splunk = await startHec(t);
  const { owner, record } = await company();
  const { id } = (await webhooks.create(owner, to(splunk.url))).body;
  await record(1);
  const later = (wait: number): string => new Date(clock.now().getTime() + wait * 1_000).toUTCString();
  const cases: [header: string, wait: number][] = [
    ["7", 7],
    ["0", 0],
    ["100000", 3_600],
    [later(20), 20],
  ];
  splunk.interfere = () => ({ status: 429, headers: { "retry-after": cases[0]?.[0] ?? "" } });
  await tick();
  for (;;) {
    const [, wait = 0] = cases.shift() ?? [];
    if (cases.length === 0) break;
    if (cases[0]?.[0].endsWith("GMT")) cases[0][0] = later(20 + wait);
    const before = splunk.requests.length;
    if (wait > 1) {
      await pass(wait - 1.5);
      await tick();
      t.equal(splunk.requests.length, before, `not yet after ${wait} s`);
      await pass(1.5);
    } else await pass(wait);
    await tick();
    t.equal(splunk.requests.length, before + 1, `after ${wait} s`);
  }
  const before = splunk.requests.length;
  await tick();
  t.equal(splunk.requests.length, before);
  await webhooks.change(owner, id, { credentials: { token: hecToken } });
  await tick();
  t.equal(splunk.requests.length, before + 1, "a changed endpoint is tried at once");
});

await t.test("errors about the endpoint park nothing, and last_delivery names the problem", async (t) => {
  const splunk = await startHec(t);
  const { owner, record } = await company();
  await webhooks.create(owner, to(splunk.url));
  const ids = await record(3);
  const errors: [reply: { status: number; headers?: Record<string, string>; body?: unknown }, error: RegExp][] = [
    [{ status: 401 }, /answered 401: check the credentials/],
    [{ status: 403, body: { code: 4 } }, /answered 403.* code 4: check the token/],
    [{ status: 400, body: { code: 1 } }, /code 1: check the token/],
    [{ status: 400, body: { code: 7 } }, /code 7: check the token and its settings/],
    [{ status: 404 }, /answered 404: check the address/],
    [{ status: 302, headers: { location: `${splunk.url}/elsewhere` } }, /answered 302, a redirect/],
    [{ status: 307, headers: { location: "http://169.254.169.254/" } }, /answered 307, a redirect/],
    [{ status: 200, body: { code: 9 } }, /answered 200 with the code 9/],
    [{ status: 200, body: "<html>a page</html>" }, /answered 200$/],
    [{ status: 400, body: { code: 8 } }, /code 8/],
    [{ status: 503, body: { code: 18, text: "secret words of the other side" } }, /code 18/],
  ];
  for (const [reply, error] of errors) {
    splunk.interfere = () => reply;
    await pass(3_600);
    const before = splunk.requests.length;
    await tick();
    t.equal(splunk.requests.length, before + 1, "one request: it is not divided, and redirects are not followed");
    const [endpoint] = await webhooks.list(owner);
    t.match(endpoint?.last_delivery, { status: reply.status, error });
    t.notMatch(JSON.stringify(endpoint), /secret words|html/);
  }
  splunk.interfere = null;
  await pass(3_600);
  await tick();
  t.same(idsOf(splunk.taken), ids, "nothing was parked");
});

await t.test(
  "a record that is refused is found and parked alone, and reported once an hour with a count",
  async (t) => {
    const splunk = await startHec(t);
    const { owner, record } = await company();
    const { id } = (await webhooks.create(owner, to(splunk.url))).body;
    const ids = await record(40);
    const refused = [ids[3], ids[17], ids[39]];
    const refuse = ({ body }: { body: Buffer }) =>
      refused.some((each) => body.includes(String(each))) ? { status: 400, body: { code: 6 } } : null;
    splunk.interfere = refuse;
    await tick();
    t.same(
      idsOf(splunk.taken),
      ids.filter((each) => !refused.includes(each)),
    );
    const reports = async (): Promise<AuditRecord[]> =>
      (await listAll(owner)).filter(({ action }) => action === failedAction);
    t.match(await reports(), [
      { outcome: "failure", reason: "records_refused", count: 3, target: { type: "siem_webhook", id } },
    ]);
    t.match((await webhooks.list(owner))[0]?.last_delivery, { status: 400, error: /answered 400 with the code 6/ });

    refused.push(...(await record(2)));
    await tick();
    t.equal((await reports()).length, 1, "less than an hour later");
    await pass(3_599);
    await tick();
    t.equal((await reports()).length, 1);
    await pass(1);
    await tick();
    t.match(
      (await reports()).map(({ count }) => count),
      [3, 2],
    );
    const before = splunk.requests.length;
    await pass(3_600);
    await tick();
    t.equal(splunk.requests.length, before, "reports about an endpoint are not delivered to it");
    const [next] = await record(1);
    await tick();
    t.equal(idsOf(splunk.taken).at(-1), next);
  },
);

await t.test("reports about an endpoint reach the other endpoints", async (t) => {
  const [one, two] = [await startHec(t), await startHec(t)];
  const { owner, record } = await company();
  const { id } = (await webhooks.create(owner, to(one.url))).body;
  await webhooks.create(owner, to(two.url));
  one.interfere = () => ({ status: 413 });
  await record(1);
  await tick();
  await tick();
  t.match(two.taken.at(-1), { action: failedAction, target: { id }, count: 2 });
});

await t.test(
  "after five days of failures the endpoint is disabled; enabled again it goes on where it stopped",
  async (t) => {
    const splunk = await startHec(t);
    const { owner, record } = await company();
    const { id } = (await webhooks.create(owner, to(splunk.url))).body;
    splunk.interfere = () => ({ status: 503 });
    const ids = await record(2);
    await tick();
    await pass(5 * day - 1);
    await tick();
    t.match(await webhooks.list(owner), [{ enabled: true }]);
    await pass(3_600);
    await tick();
    t.match(await webhooks.list(owner), [
      {
        enabled: false,
        last_delivery: { status: 503, error: "disabled after five days of failures: the endpoint answered 503" },
      },
    ]);
    t.match((await listAll(owner)).at(-1), {
      action: failedAction,
      outcome: "failure",
      reason: "disabled",
      actor: { type: "system", id: "siem-forwarder" },
      target: { type: "siem_webhook", id },
      request: { status: 503 },
    });
    splunk.interfere = null;
    ids.push(...(await record(1)));
    await pass(3_600);
    await tick();
    t.same(splunk.taken, []);
    await webhooks.change(owner, id, { enabled: true });
    await tick();
    const taken = splunk.taken as AuditRecord[];
    t.same(idsOf(taken.filter(({ action }) => action === "secret.read")), ids);
    t.ok(!taken.some(({ action }) => action === failedAction));
  },
);

await t.test("a success within the five days begins them again", async (t) => {
  const splunk = await startHec(t);
  const { owner, record } = await company();
  await webhooks.create(owner, to(splunk.url));
  for (let round = 0; round < 3; round += 1) {
    splunk.interfere = () => ({ status: 503 });
    await record(1);
    await tick();
    await pass(4 * day);
    splunk.interfere = null;
    await tick();
  }
  t.match(await webhooks.list(owner), [{ enabled: true, last_delivery: { status: 200, error: null } }]);
  t.equal(splunk.taken.length, 3);
});

await t.test(
  "what waits for more than 30 days is given up, and one audit.gap says how much and of which time",
  async (t) => {
    const splunk = await startHec(t);
    const { owner, record } = await company();
    const { id } = (await webhooks.create(owner, { ...to(splunk.url), enabled: false })).body;
    const from = clock.now().toISOString();
    await record(3);
    await pass(day);
    const last = clock.now().toISOString();
    await record(2);
    await pass(30 * day - 1);
    const kept = await record(2);
    await webhooks.change(owner, id, { enabled: true });
    await pass(1.001);
    await tick();
    await tick();
    const taken = splunk.taken as AuditRecord[];
    t.same(idsOf(taken).slice(0, 2), kept);
    const gaps = (await listAll(owner)).filter(({ action }) => action === "audit.gap");
    t.match(gaps, [{ outcome: "failure", count: 5, target: { type: "siem_webhook", id } }]);
    t.equal(Date.parse(String(gaps[0]?.changes?.["from"])), Date.parse(from));
    t.equal(Date.parse(String(gaps[0]?.changes?.["to"])), Date.parse(last));
    t.match(taken.at(-1), { action: "audit.gap" }, "the gap is delivered");
  },
);

await t.test("a plan without SIEM pauses delivery; another plan resumes it, and the pause is no failure", async (t) => {
  const splunk = await startHec(t);
  const { orgId, owner, record } = await company();
  await webhooks.create(owner, to(splunk.url));
  splunk.interfere = () => ({ status: 503 });
  const ids = await record(1);
  await tick();
  plans.set(orgId, "team");
  splunk.interfere = null;
  ids.push(...(await record(2)));
  await pass(6 * day);
  await tick();
  t.same(splunk.taken, []);
  splunk.interfere = () => ({ status: 503 });
  plans.set(orgId, "business");
  await tick();
  t.match(await webhooks.list(owner), [{ enabled: true }]);
  splunk.interfere = null;
  await pass(1);
  await tick();
  t.same(idsOf(splunk.taken), ids);
});

await t.test("a plan that is lost during a delivery ends it after the request under way", async (t) => {
  const [splunk, neighbour] = [await startHec(t), await startHec(t)];
  const [one, other] = [await company(), await company()];
  await webhooks.create(one.owner, to(splunk.url));
  await webhooks.create(other.owner, to(neighbour.url));
  await tick();
  const ids = await one.record(2_100);
  splunk.interfere = async () => {
    splunk.interfere = null;
    plans.set(one.orgId, "team");
    await other.record(1);
    void tick();
    await until("the replica has seen the plan", () => neighbour.taken.length === 1);
    return null;
  };
  const before = splunk.requests.length;
  await tick();
  t.equal(splunk.requests.length - before, 1);
  plans.set(one.orgId, "business");
  await tick();
  t.same(idsOf(splunk.taken), ids, "the rest arrives with another plan, in order and once");
});

await t.test(
  "a test event has the form of a record and no place in the chain, and the answer says what happened",
  async (t) => {
    const splunk = await startHec(t);
    const { orgId, owner } = await company();
    const { id } = (await webhooks.create(owner, { ...to(splunk.url), enabled: false })).body;
    const test = () => webhooks.call(owner, "POST", `/${id}/test`);
    t.match(await test(), { status: 200, body: { ok: true, status: 200, error: null } });
    const [event] = splunk.taken as AuditRecord[];
    t.ok(auditDraft.safeParse(event).success, "no seq, prev_hash or hash");
    t.match(event, { action: "siem.webhook.tested", org_id: orgId, target: { id }, actor: { id: owner.userId } });
    splunk.interfere = () => ({ status: 403, body: { code: 4 } });
    t.match(await test(), { status: 200, body: { ok: false, status: 403, error: /code 4: check the token/ } });
    await splunk.stop();
    t.match(await test(), {
      status: 200,
      body: { ok: false, status: null, error: "the endpoint refuses connections" },
    });
    t.match(await webhooks.list(owner), [{ enabled: false, last_delivery: null }]);
    const records = (await listAll(owner)).filter(({ action }) => action === "siem.webhook.tested");
    t.same(
      records.map(({ outcome }) => outcome),
      ["success", "failure", "failure"],
    );
    t.ok(records.every(({ id: recordId }) => recordId !== event?.id));
  },
);

await t.test("a disabled or deleted endpoint gets nothing more", async (t) => {
  const splunk = await startHec(t);
  const { owner, record } = await company();
  const { id } = (await webhooks.create(owner, to(splunk.url))).body;
  await webhooks.change(owner, id, { enabled: false });
  await record(1);
  await tick();
  t.equal(splunk.requests.length, 0);
  await webhooks.remove(owner, id);
  await tick();
  t.equal(splunk.requests.length, 0);
});
