import { randomUUID } from "node:crypto";
import type { PlanName } from "@coffer/contract";
import { until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { startForwarder, startStores } from "../forwarder.ts";
import { hecEndpoint, webhooksAt } from "./webhooks.ts";

const plans = new Map<string, PlanName>();
const stores = await startStores(t);
const forwarder = await startForwarder(t, stores, undefined, {
  seams: {
    plans: { of: (ids) => Promise.resolve(new Map(ids.map((id) => [id, plans.get(id) ?? "enterprise"]))) },
    resolve: (host) => (host.endsWith(".invalid") ? Promise.resolve(["203.0.113.9"]) : Promise.reject(new Error(host))),
  },
});
const { url, people, listAll } = forwarder;
const webhooks = webhooksAt(url);
const database = new pg.Client({ connectionString: stores.postgres.url });
await database.connect();
t.teardown(() => database.end());

/** An organization with a person of each role. */
async function company() {
  const orgId = randomUUID();
  const [owner, admin, auditor, member] = await Promise.all(
    (["owner", "admin", "auditor", "member"] as const).map((role) => people.add([{ orgId, role }])),
  );
  if (!owner || !admin || !auditor || !member) throw new Error("four roles, four people");
  return { orgId, owner, admin, auditor, member };
}

await t.test("an endpoint is created, listed, changed and deleted, and its credentials are never shown", async (t) => {
  const { orgId, owner, admin, auditor } = await company();
  const created = await webhooks.create(owner, { ...hecEndpoint, name: "Splunk" });
  t.equal(created.status, 201);
  const { id, created_at: createdAt } = created.body;
  t.same(created.body, {
    id,
    name: "Splunk",
    format: "hec",
    url: hecEndpoint.url,
    enabled: true,
    created_at: createdAt,
    updated_at: createdAt,
    last_delivery: null,
  });
  t.same(await webhooks.list(auditor), [created.body]);
  const changed = await webhooks.change(admin, id, {
    url: "https://other.invalid/x",
    enabled: false,
    credentials: { token: "other", index: "main" },
  });
  t.equal(changed.status, 200);
  t.match(changed.body, { id, name: "Splunk", format: "hec", url: "https://other.invalid/x", enabled: false });
  t.ok(changed.body.updated_at > createdAt);
  t.same(await webhooks.list(owner), [changed.body]);
  t.equal((await webhooks.remove(admin, id)).status, 204);
  t.equal((await webhooks.remove(admin, id)).status, 404);
  t.same(await webhooks.list(owner), []);

  const records = await listAll(owner);
  t.match(
    records.map(({ action, outcome, target, actor, changes = {} }) => ({ action, outcome, target, actor, changes })),
    [
      {
        action: "siem.webhook.created",
        outcome: "success",
        target: { type: "siem_webhook", id },
        actor: { type: "user", id: owner.userId },
        changes: { name: "Splunk", format: "hec", url: hecEndpoint.url, enabled: true },
      },
      {
        action: "siem.webhook.updated",
        outcome: "success",
        actor: { id: admin.userId },
        changes: { url: "https://other.invalid/x", enabled: false, credentials: "replaced" },
      },
      { action: "siem.webhook.deleted", outcome: "success", target: { type: "siem_webhook", id } },
      { action: "siem.webhook.deleted", outcome: "failure", target: { type: "siem_webhook", id } },
    ],
  );
  t.ok(records.every((record) => record.org_id === orgId));
  t.notMatch(JSON.stringify(records), hecEndpoint.credentials.token);
});

await t.test("owners and admins configure, auditors list, members and suspended people do neither", async (t) => {
  const { orgId, owner, auditor, member } = await company();
  const { id } = (await webhooks.create(owner, hecEndpoint)).body;
  const suspended = await people.add([{ orgId, role: "owner", status: "suspended" }]);
  const stranger = await people.add([{ orgId: randomUUID(), role: "owner" }]);
  for (const [who, person] of Object.entries({ auditor, member, suspended })) {
    const denied = { status: 403, body: { error: "access_denied" } };
    t.match(await webhooks.create(person, hecEndpoint), denied, `${who} creates`);
    t.match(await webhooks.change(person, id, { enabled: false }), denied, `${who} changes`);
    t.match(await webhooks.remove(person, id), denied, `${who} deletes`);
    t.equal((await webhooks.call(person, "GET")).status, who === "auditor" ? 200 : 403, `${who} lists`);
  }
  t.equal((await webhooks.change(stranger, id, { enabled: false })).status, 404);
  t.equal((await webhooks.remove(stranger, id)).status, 404);
  t.same(await webhooks.list(stranger), []);
  const foreign = await webhooks.call(stranger, "DELETE", `/${id}`, undefined, { "x-coffer-org": orgId });
  t.match(foreign, { status: 403, body: { error: "access_denied" } });
  t.match(await webhooks.call(undefined, "GET"), { status: 401, body: { error: "invalid_token" } });
  t.match(await webhooks.call(await people.add([]), "GET"), { status: 404, body: { error: "not_found" } });
  t.match(await webhooks.list(owner), [{ id, enabled: true }]);

  const denials = (await listAll(owner)).filter(({ outcome }) => outcome === "denied");
  t.match(
    denials.map(({ action, actor, reason, request }) => [action, actor.id, reason, request.status]),
    [
      ["siem.webhook.created", auditor.userId, "access_denied", 403],
      ["siem.webhook.updated", auditor.userId, "access_denied", 403],
      ["siem.webhook.deleted", auditor.userId, "access_denied", 403],
      ["siem.webhook.created", member.userId, "access_denied", 403],
      ["siem.webhook.updated", member.userId, "access_denied", 403],
      ["siem.webhook.deleted", member.userId, "access_denied", 403],
    ],
  );
});

await t.test("the plans free and team have no endpoints; what was configured stays", async (t) => {
  const { orgId, owner } = await company();
  const { id } = (await webhooks.create(owner, hecEndpoint)).body;
  for (const plan of ["free", "team"] as const) {
    plans.set(orgId, plan);
    const refused = { status: 403, body: { error: "plan_required" } };
    t.match(await webhooks.create(owner, hecEndpoint), refused, plan);
    t.match(await webhooks.call(owner, "GET"), refused, plan);
    t.match(await webhooks.change(owner, id, { enabled: false }), refused, plan);
    t.match(await webhooks.remove(owner, id), refused, plan);
  }
  plans.set(orgId, "business");
  t.match(await webhooks.list(owner), [{ id, enabled: true }]);
});

await t.test("an organization has at most ten endpoints, also when many are created at once", async (t) => {
  const { owner, admin } = await company();
  const answers = await Promise.all(
    Array.from({ length: 14 }, (_, n) => webhooks.create(n % 2 ? owner : admin, hecEndpoint)),
  );
  t.same(
    answers.map(({ status }) => status).sort(),
    Array.from({ length: 14 }, (_, n) => (n < 10 ? 201 : 409)),
  );
  t.equal((await webhooks.list(owner)).length, 10);
  const [first] = await webhooks.list(owner);
  await webhooks.remove(owner, first?.id ?? "");
  t.equal((await webhooks.create(owner, hecEndpoint)).status, 201);
});

await t.test("each format needs its credentials, and takes no others", async (t) => {
  const { owner } = await company();
  const login = {
    tenant_id: "contoso.example",
    client_id: randomUUID(),
    client_secret: "secret",
    dcr_id: "dcr-00000000000000000000000000000000",
    stream: "Custom-Coffer_CL",
  };
  const base = "https://siem.invalid";
  const bulk = `${base}/coffer/_bulk`;
  const good: object[] = [
    { format: "hec", url: base, credentials: { token: "t", index: "main", sourcetype: "coffer", api_key: "ignored" } },
    { format: "log_analytics", url: base, credentials: login },
    { format: "log_analytics", url: base, credentials: { ...login, login_url: "https://login.invalid" } },
    { format: "logs_intake", url: base, credentials: { api_key: "k", service: "coffer", tags: "env:prod,team:x" } },
    { format: "ecs", url: bulk, credentials: { api_key: "k" } },
    { format: "ecs", url: `${bulk}?pipeline=x`, credentials: { username: "u", password: "p:ü" } },
  ];
  for (const body of good) t.equal((await webhooks.create(owner, body)).status, 201, JSON.stringify(body));
  const bad: [field: string, body: object][] = [
    ["credentials.token", { format: "hec", url: base, credentials: {} }],
    ["credentials.token", { format: "hec", url: base, credentials: { token: "a\nX-Injected: 1" } }],
    ["credentials.token", { format: "hec", url: base, credentials: { token: "" } }],
    ["credentials.api_key", { format: "logs_intake", url: base, credentials: { token: "t" } }],
    ["credentials.tenant_id", { format: "log_analytics", url: base, credentials: { ...login, tenant_id: ".." } }],
    ["credentials.tenant_id", { format: "log_analytics", url: base, credentials: { ...login, tenant_id: "a/b" } }],
    ["credentials.stream", { format: "log_analytics", url: base, credentials: { ...login, stream: undefined } }],
    [
      "credentials.login_url",
      { format: "log_analytics", url: base, credentials: { ...login, login_url: "https://127.0.0.1" } },
    ],
    ["credentials", { format: "ecs", url: bulk, credentials: {} }],
    ["credentials.password", { format: "ecs", url: bulk, credentials: { username: "u" } }],
    ["credentials.username", { format: "ecs", url: bulk, credentials: { username: "u:v", password: "p" } }],
    ["credentials.api_key", { format: "ecs", url: bulk, credentials: { api_key: "k", username: "u", password: "p" } }],
    ["url", { format: "ecs", url: base, credentials: { api_key: "k" } }],
    ["format", { format: "webhook", url: base, credentials: { token: "t" } }],
    ["url", { format: "hec", credentials: { token: "t" } }],
    ["name", { ...hecEndpoint, name: "" }],
  ];
  for (const [field, body] of bad) {
    const { status, body: answer } = await webhooks.create(owner, body);
    t.equal(status, 400, JSON.stringify(body));
    t.equal(answer.error, "invalid_request");
    t.same(
      answer.details?.map((detail) => detail.field),
      [field],
    );
  }
  const [endpoint] = await webhooks.list(owner);
  t.equal((await webhooks.change(owner, endpoint?.id ?? "", { credentials: { api_key: "k" } })).status, 400);
});

await t.test("what cannot be an endpoint's address is refused at creation and at a change", async (t) => {
  const { owner } = await company();
  const { id } = (await webhooks.create(owner, hecEndpoint)).body;
  const addresses = [
    "http://siem.invalid/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0x7f.1/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://10.1.2.3/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://0.0.0.0/",
    "https://100.64.0.1/",
    "https://user:password@siem.invalid/",
    "https://user@siem.invalid/",
    "https://siem.invalid/#x",
    "https://siem.invalid/?x=y",
    "ftp://siem.invalid/",
    "file:///etc/passwd",
    "siem.invalid",
    "",
    `https://siem.invalid/${"x".repeat(2048)}`,
  ];
  for (const address of addresses) {
    const refused = { status: 400, body: { error: "invalid_request", details: [{ field: "url" }] } };
    t.match(await webhooks.create(owner, { ...hecEndpoint, url: address }), refused, address);
    t.match(await webhooks.change(owner, id, { url: address }), refused, address);
  }
  t.match(await webhooks.list(owner), [{ id, url: hecEndpoint.url }]);
});

await t.test("stored credentials are never sent to another scheme, host or port", async (t) => {
  const { owner } = await company();
  const origin = "https://siem.invalid:8088";
  const token = { token: "another" };
  const { id } = (await webhooks.create(owner, { ...hecEndpoint, url: `${origin}/` })).body;
  const others = ["https://other.invalid:8088/", "https://siem.invalid:8089/", "https://siem.invalid/"];
  for (const url of others) {
    const needed = { error: "invalid_request", message: /send all credentials/, details: [{ field: "credentials" }] };
    t.match(
      await webhooks.change(owner, id, { url, name: "moved", enabled: false }),
      { status: 400, body: needed },
      url,
    );
  }
  t.match(await webhooks.list(owner), [{ name: null, url: `${origin}/`, enabled: true }], "nothing was changed");
  t.match(await webhooks.change(owner, id, { url: `${origin}/x` }), { status: 200 }, "another path");
  t.match(
    await webhooks.change(owner, id, { url: "https://SIEM.invalid:8088/y" }),
    { status: 200 },
    "another spelling",
  );
  t.match(await webhooks.change(owner, id, { url: others[0], credentials: token }), { status: 200 });
  t.match(await webhooks.change(owner, id, { credentials: token }), { status: 200 }, "the same address");
  t.match(
    (await listAll(owner)).map(({ action, outcome }) => [action, outcome]),
    [["siem.webhook.created", "success"], ...Array.from({ length: 4 }, () => ["siem.webhook.updated", "success"])],
  );
});

await t.test("credentials and address that two admins change at once never come together", async (t) => {
  const { orgId, owner, admin } = await company();
  const { id } = (await webhooks.create(owner, { ...hecEndpoint, url: "https://first.invalid/" })).body;
  // The chain's lock holds both changes after they have read the endpoint.
  const holder = new pg.Client({ connectionString: stores.postgres.url });
  await holder.connect();
  t.teardown(() => holder.end());
  await holder.query("begin");
  await holder.query("select 1 from siem_forwarder.audit_chains where id = $1 for update", [orgId]);
  const waiting = async (count: number): Promise<boolean> => {
    const { rows } = await database.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length === count;
  };
  const moved = webhooks.change(owner, id, { url: "https://second.invalid/", credentials: { token: "of-the-second" } });
  await until("the first change waits", () => waiting(1));
  const changed = webhooks.change(admin, id, { url: "https://first.invalid/x" });
  await until("both changes wait", () => waiting(2));
  await holder.query("rollback");
  t.match(await moved, { status: 200 });
  t.match(await changed, { status: 400, body: { details: [{ field: "credentials" }] } });
  t.match(await webhooks.list(owner), [{ url: "https://second.invalid/" }]);
});

await t.test("credentials are sealed in the database, each for its endpoint", async (t) => {
  const { orgId, owner } = await company();
  await webhooks.create(owner, hecEndpoint);
  await webhooks.create(owner, hecEndpoint);
  const { rows } = await database.query<{ credentials: string }>(
    "select credentials from siem_forwarder.siem_endpoints where org_id = $1",
    [orgId],
  );
  t.equal(rows.length, 2);
  t.not(rows[0]?.credentials, rows[1]?.credentials);
  const { rows: dump } = await database.query<{ text: string }>(
    "select row_to_json(e)::text as text from siem_forwarder.siem_endpoints e",
  );
  for (const { text } of dump) t.notMatch(text, hecEndpoint.credentials.token);
});

await t.test("a path that names no endpoint is 404", async (t) => {
  const { owner } = await company();
  for (const id of ["x", randomUUID(), `${randomUUID()}x`])
    for (const method of ["PATCH", "DELETE"])
      t.match(await webhooks.call(owner, method, `/${id}`, method === "PATCH" ? {} : undefined), {
        status: 404,
        body: { error: "not_found" },
      });
});
