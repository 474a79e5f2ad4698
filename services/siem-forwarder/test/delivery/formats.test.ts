import { gunzipSync } from "node:zlib";
import type { AuditRecord } from "@coffer/events";
import t from "tap";
import {
  azure,
  datadogKey,
  elasticKey,
  hecToken,
  startAzure,
  startDatadog,
  startElastic,
  startHec,
} from "./receivers/vendors.ts";
import { idsOf, startSiem } from "./siem.ts";

const { pass, webhooks, company, tick, listAll } = await startSiem(t);

const eventsOf = (documents: Iterable<unknown>): string[] =>
  Array.from(documents, (document) => (document as { event: { id: string } }).event.id);

await t.test("hec: the event, its time and where it comes from; index and source type as they are set", async (t) => {
  const splunk = await startHec(t);
  const { owner, record } = await company();
  const credentials = { token: hecToken, index: "coffer", sourcetype: "vault" };
  await webhooks.create(owner, { format: "hec", url: `${splunk.url}/services/collector/event`, credentials });
  await webhooks.create(owner, { format: "hec", url: splunk.url, credentials: { token: hecToken } });
  await record(1, { time: "2026-11-20T10:00:00.123456Z" });
  await tick();
  const stored = (await listAll(owner)).at(-1);
  const bodies = splunk.requests.map(({ body }) => body.toString().split("\n").at(-1) ?? "");
  const common = { time: 1_795_168_800.123, host: "coffer.test", source: "coffer" };
  t.same(
    bodies
      .map((body) => JSON.parse(body) as unknown)
      .sort((a, b) => ("index" in (a as object) ? -1 : "index" in (b as object) ? 1 : 0)),
    [
      { ...common, sourcetype: "vault", index: "coffer", event: stored },
      { ...common, sourcetype: "coffer:audit", event: stored },
    ],
  );
  t.ok(splunk.requests.every(({ headers }) => headers["content-type"] === "application/json"));
});

await t.test(
  "log_analytics: one token for all batches, a new one when it was revoked; rows with the whole record",
  async (t) => {
    const ms = await startAzure(t);
    const { owner, record } = await company();
    const body = { format: "log_analytics", url: ms.url, credentials: { ...azure, login_url: ms.url } };
    t.equal((await webhooks.create(owner, body)).status, 201);
    const ids = await record(1_001);
    await tick();
    t.same(idsOf(ms.taken), ids);
    t.equal(ms.issued(), 1);
    ms.tokens.clear();
    ids.push(...(await record(1)));
    await tick();
    t.match((await webhooks.list(owner))[0]?.last_delivery, {
      status: 401,
      error: /answered 401: check the credentials/,
    });
    await pass(1);
    await tick();
    t.same(idsOf(ms.taken), ids);
    t.equal(ms.issued(), 2);
    await pass(3_600);
    ids.push(...(await record(1)));
    await tick();
    t.equal(ms.issued(), 3, "an old token is replaced before it expires");
    const rows = JSON.parse(ms.requests.at(-1)?.body.toString() ?? "") as Record<string, unknown>[];
    const stored = (await listAll(owner)).at(-1);
    t.same(rows, [
      {
        TimeGenerated: stored?.time,
        Id: stored?.id,
        Action: "secret.read",
        Outcome: "success",
        ActorType: "client",
        ActorId: stored?.actor.id,
        TargetType: "secret",
        TargetId: stored?.target.id,
        SourceIp: "203.0.113.7",
        Record: stored,
      },
    ]);
    for (const status of [429, 503]) {
      ms.interfere = ({ path }) => (path.startsWith("/data") ? { status, headers: { "retry-after": "77" } } : null);
      ids.push(...(await record(1)));
      await tick();
      await pass(76);
      ms.interfere = null;
      const before = ms.requests.length;
      await tick();
      t.equal(ms.requests.length, before);
      await pass(1);
      await tick();
      t.same(idsOf(ms.taken), ids);
    }
  },
);

await t.test("log_analytics: a login that is refused is an error of the endpoint", async (t) => {
  const ms = await startAzure(t);
  const { owner, record } = await company();
  const credentials = { ...azure, client_secret: "wrong", login_url: ms.url };
  const { id } = (await webhooks.create(owner, { format: "log_analytics", url: ms.url, credentials })).body;
  const ids = await record(2);
  await tick();
  t.match((await webhooks.list(owner))[0]?.last_delivery, {
    status: 401,
    error: "the login service answered 401: check the credentials",
  });
  await webhooks.change(owner, id, { credentials: { ...azure, login_url: ms.url } });
  await tick();
  t.same(idsOf(ms.taken.filter((event) => (event as AuditRecord).action === "secret.read")), ids);
});

await t.test("logs_intake: gzip, a sentence for people, and the whole record", async (t) => {
  const dog = await startDatadog(t);
  const { owner, record } = await company();
  const credentials = { api_key: datadogKey, service: "vault", tags: "env:prod,team:x" };
  await webhooks.create(owner, { format: "logs_intake", url: dog.url, credentials });
  const ids = await record(700, { outcome: "denied", reason: "access_denied" });
  await tick();
  t.same(idsOf(dog.taken), ids);
  const [last] = (
    JSON.parse(gunzipSync(dog.requests.at(-1)?.body ?? "").toString()) as Record<string, unknown>[]
  ).slice(-1);
  const stored = (await listAll(owner)).at(-1);
  t.same(last, {
    ddsource: "coffer",
    service: "vault",
    hostname: "coffer.test",
    ddtags: "env:prod,team:x",
    message: `secret.read by client ${stored?.actor.id ?? ""} on secret ${stored?.target.id ?? ""}: denied (access_denied).`,
    timestamp: stored?.time,
    coffer: stored,
  });
  for (const status of [408, 429, 500, 502, 503]) {
    dog.interfere = () => ({ status });
    ids.push(...(await record(1)));
    await tick();
    dog.interfere = null;
    await pass(3_600);
    await tick();
    t.same(idsOf(dog.taken), ids, `again after ${status}`);
  }
});

await t.test("a body that is too large is divided, in each format", async (t) => {
  const [ms, dog, splunk, elastic] = [
    await startAzure(t),
    await startDatadog(t),
    await startHec(t),
    await startElastic(t),
  ];
  const { owner, record } = await company();
  await webhooks.create(owner, { format: "log_analytics", url: ms.url, credentials: { ...azure, login_url: ms.url } });
  await webhooks.create(owner, { format: "logs_intake", url: dog.url, credentials: { api_key: datadogKey } });
  await webhooks.create(owner, { format: "hec", url: splunk.url, credentials: { token: hecToken } });
  await webhooks.create(owner, {
    format: "ecs",
    url: `${elastic.url}/coffer-audit/_bulk`,
    credentials: { api_key: elasticKey },
  });
  const ids = await record(64);
  for (const receiver of [ms, splunk, elastic])
    receiver.interfere = ({ body, path }) =>
      body.length > 10_000 && !path.includes("oauth2") ? { status: 413 } : null;
  dog.interfere = ({ body }) => (gunzipSync(body).length > 10_000 ? { status: 413 } : null);
  await tick();
  for (const { taken } of [ms, dog, splunk])
    t.same(
      idsOf(taken).filter((id) => ids.includes(id)),
      ids,
    );
  t.same(
    eventsOf(elastic.taken).filter((id) => ids.includes(id)),
    ids,
  );
});

await t.test("ecs: documents of the Elastic Common Schema, created under the id of their record", async (t) => {
  const elastic = await startElastic(t);
  const { owner, record } = await company();
  const url = `${elastic.url}/coffer-audit/_bulk`;
  await webhooks.create(owner, { format: "ecs", url, credentials: { username: "coffer", password: "p:ü" } });
  const ids = await record(450);
  const [denied] = await record(1, { outcome: "denied", reason: "access_denied", changes: { name: "x" }, count: 3 });
  await tick();
  t.same(eventsOf(elastic.taken), [...ids, denied]);
  t.same([...elastic.documents.keys()], [...ids, denied]);
  const stored = (await listAll(owner)).at(-1);
  if (stored === undefined) throw new Error("it was recorded");
  t.same(elastic.documents.get(denied ?? ""), {
    "@timestamp": stored.time,
    ecs: { version: "8.17.0" },
    event: {
      id: denied,
      kind: "event",
      category: ["database"],
      type: ["access", "denied"],
      action: "secret.read",
      outcome: "failure",
      dataset: "coffer.audit",
    },
    user: { id: stored.actor.id },
    source: { ip: stored.source.ip },
    organization: { id: stored.org_id },
    user_agent: { original: stored.source.user_agent },
    http: { response: { status_code: 200 } },
    coffer: {
      schema: "coffer.audit/1",
      outcome: "denied",
      reason: "access_denied",
      actor: { type: "client", application_id: stored.actor.application_id },
      target: stored.target,
      request: { id: stored.request.id, method: "GET", route: "/api/sm/v1/secrets/{uid}" },
      changes: { name: "x" },
      count: 3,
      seq: stored.seq,
      prev_hash: stored.prev_hash,
      hash: stored.hash,
    },
  });
});

await t.test("ecs: each item counts: 201 and 409 are done, 429 and 503 come again, others are parked", async (t) => {
  const elastic = await startElastic(t);
  const { owner, record } = await company();
  const url = `${elastic.url}/coffer-audit/_bulk`;
  await webhooks.create(owner, { format: "ecs", url, credentials: { api_key: elasticKey } });
  const ids = await record(10);
  const statuses = new Map([
    [ids[2], 400],
    [ids[4], 429],
    [ids[6], 404],
    [ids[8], 503],
  ]);
  elastic.statusOf = (id) => statuses.get(id) ?? null;
  await tick();
  t.match((await webhooks.list(owner))[0]?.last_delivery, { error: "the endpoint answered 429 for a record" });
  t.equal(elastic.documents.size, 6);
  statuses.delete(ids[4]);
  await pass(1);
  await tick();
  t.match((await webhooks.list(owner))[0]?.last_delivery, { error: "the endpoint answered 503 for a record" });
  statuses.delete(ids[8]);
  await pass(5);
  await tick();
  t.same([...elastic.documents.keys()].sort(), ids.filter((_, n) => n !== 2 && n !== 6).sort());
  t.equal(new Set(eventsOf(elastic.taken)).size, elastic.taken.length, "none was created twice");
  const reports = (await listAll(owner)).filter(({ action }) => action === "siem.webhook.delivery.failed");
  t.match(
    reports.map(({ reason }) => reason),
    ["records_refused"],
  );
  await pass(3_600);
  await tick();
  const counts = (await listAll(owner)).flatMap(({ reason, count }) => (reason === "records_refused" ? [count] : []));
  t.equal(
    counts.reduce((sum: number, count) => sum + (count ?? 0), 0),
    2,
  );
});

await t.test("ecs: an answer that is not one of the bulk API is an error of the endpoint", async (t) => {
  const elastic = await startElastic(t);
  const { owner, record } = await company();
  const url = `${elastic.url}/coffer-audit/_bulk`;
  await webhooks.create(owner, { format: "ecs", url, credentials: { api_key: elasticKey } });
  const ids = await record(3);
  for (const body of [
    "<html>",
    {},
    { errors: true, items: [] },
    { errors: true, items: [1, 2, 3] },
    { errors: "no" },
  ]) {
    elastic.interfere = () => ({ status: 200, body });
    await tick();
    t.match((await webhooks.list(owner))[0]?.last_delivery, { status: 200, error: String });
    await pass(3_600);
  }
  elastic.interfere = null;
  await tick();
  t.same([...elastic.documents.keys()], ids);
});
