import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import t from "tap";
import { until } from "@coffer/testkit";
import { type SentSpan, testTraces } from "@coffer/testkit/traces";
import { startSync } from "./support/start.ts";
import { nothing } from "./support/vaults.ts";
import { createViewers, recordEvent } from "./support/viewers.ts";

// Traced requests, then all their spans.

const endTraces = await testTraces(t, "sync");
const limit = 20;
const sync = await startSync(t, { environment: { COFFER_LIMIT_USER: String(limit) } });
const { authSm, vaults, connect } = sync;
const { viewer } = createViewers(sync);
const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const options = { headers: { traceparent: `00-${traceId}-${parentId}-01` } };
const canary = `canary-${randomUUID()}`;

const person = authSm.person();
const [token, expired, forged] = await Promise.all([
  authSm.token(person),
  authSm.token(person, -5),
  authSm.forged(person),
]);
/** Connects with a token that is refused. */
async function refused(shown: Parameters<typeof connect>[1]): Promise<void> {
  const outcome = await connect(person, shown).catch(() => "refused");
  if (outcome !== "refused") throw new Error("it is let in");
}

const device = await connect(person, { token, options });
await refused({ token: canary, options });
await refused({ token: forged, protocols: ["coffer.sync.v1", `bearer.${canary}`], options });
await refused({ token, options: { headers: { ...options.headers, origin: `https://${canary}.test` } } });
await (await connect(person, { token: expired, options })).closed();

const change = { id: canary, vault_id: canary, action: "created" as const, type: "login", encrypted_data: canary };
const at = { updated_at: "2026-11-20T10:00:00.000001Z", server_timestamp: "2026-11-20T10:00:00.000001Z" };
vaults.changes = ({ after }) =>
  after === null
    ? { ...nothing(), changes: [{ ...change, ...at }], after: "next" }
    : { ...nothing(), deleted: [{ id: canary, vault_id: canary, deleted_at: at.updated_at }], reset: true };
await device.sync({ last_sync: "2026-11-20T09:00:00.000001Z" });

vaults.changes = () => {
  throw new ServiceError("unavailable", "not now");
};
const unlucky = await connect(person, { protocols: ["coffer.sync.v1", `bearer.${token}`] });
unlucky.send({ type: "sync_request" });
await unlucky.closed();

const latch = Promise.withResolvers<undefined>();
let requested = false;
vaults.changes = async () => {
  requested = true;
  await latch.promise;
  return nothing();
};
const hasty = await connect(person);
hasty.send({ type: "sync_request" });
await until("a part is requested", () => requested);
hasty.socket.terminate();
await until("it is gone", async () =>
  /coffer_sync_closes_total\{service="sync",code="1006"\} 1/.test(await sync.metrics()),
);
latch.resolve(undefined);
vaults.changes = nothing;

const vaultId = randomUUID();
const [one, two] = [await viewer(vaultId), await viewer(vaultId)];
await vaults.publish(recordEvent(vaultId, canary));
await until("both are notified", () => one.pushes().length === 1 && two.pushes().length === 1);
const draining = sync.service.drain?.(0);
await refused({ token, options });
await draining;
for (let knocks = 0; knocks < limit; knocks += 1) await refused({ token: canary });
await refused({ token, options });

const traces = await endTraces();
const spans = traces.spans();
const named = (name: string): SentSpan[] => spans.filter((span) => span.name === name);
const below = ({ spanId }: SentSpan, name: string): SentSpan[] =>
  named(name).filter((span) => span.parentSpanId === spanId);

await t.test("each upgrade is a server span in the trace of its caller, with its outcome", (t) => {
  const upgrades = named("GET /api/sync/ws").filter((span) => span.traceId === traceId);
  t.ok(upgrades.every(({ kind, parentSpanId }) => kind === 2 && parentSpanId === parentId));
  const route = { "http.request.method": "GET", "http.route": "/api/sync/ws" };
  t.strictSame(
    upgrades.map(({ attributes, status }) => ({ ...attributes, failed: status.code === 2 })),
    [
      { ...route, "http.response.status_code": 101, failed: false },
      { ...route, "http.response.status_code": 401, "error.type": "invalid_token", failed: false },
      { ...route, "http.response.status_code": 401, "error.type": "invalid_token", failed: false },
      { ...route, "http.response.status_code": 403, "error.type": "access_denied", failed: false },
      { ...route, "http.response.status_code": 101, "coffer.sync.close_code": 4001, failed: false },
      { ...route, "http.response.status_code": 503, "error.type": "unavailable", failed: true },
      { ...route, "http.response.status_code": 429, "error.type": "rate_limited", failed: false },
    ],
  );
  t.end();
});

await t.test("each sync request is a trace of its own, with the requests for its parts below it", (t) => {
  const having = (attribute: string, value: unknown): SentSpan | undefined =>
    named("sync_request").find(({ attributes }) => attributes[attribute] === value);
  const answered = having("coffer.sync.everything", false);
  if (answered === undefined) throw new Error("the one that went on has no span");
  for (const span of named("sync_request")) t.match(span, { kind: 2, parentSpanId: "" });
  t.not(answered.traceId, traceId, "messages are not part of the upgrade's trace");
  const answer = { parts: 2, changes: 1, deleted: 1, reset: true };
  const described = Object.fromEntries(Object.entries(answer).map(([name, value]) => [`coffer.sync.${name}`, value]));
  t.strictSame(answered.attributes, { "coffer.sync.everything": false, ...described });
  const questions = below(answered, "request coffer.rpc.vaults.changes");
  t.equal(questions.length, 2);
  for (const question of questions) {
    t.equal(question.traceId, answered.traceId);
    t.equal(below(question, "reply coffer.rpc.vaults.changes").length, 1, "the trace goes on in vaults");
  }
  t.match(having("error.type", "unavailable"), { status: { code: 2 } });
  t.match(having("coffer.sync.gone", true), { status: { code: 0 } }, "a closed connection is not a failure");
  t.end();
});

await t.test("a push span is below its event and has the number of connections", (t) => {
  const [consumed] = named("consume coffer.evt.record.changed");
  if (consumed === undefined) throw new Error("no event was consumed");
  const published = named("publish coffer.evt.record.changed");
  t.ok(published.some(({ spanId, traceId }) => spanId === consumed.parentSpanId && traceId === consumed.traceId));
  t.equal(below(consumed, "request coffer.rpc.vaults.viewers").length, 1);
  const [push, ...more] = below(consumed, "push");
  t.same(more, []);
  t.match(push, { kind: 1, attributes: { "coffer.sync.pushes": 1, "coffer.sync.connections": 2 } });
  t.end();
});

await t.test("no token, no query, no origin and no record data is in any span", (t) => {
  const sent = traces.text();
  for (const secret of [canary, token, forged, expired, "token=", person.userId, person.sessionId, vaultId])
    t.notOk(sent.includes(secret), secret.slice(0, 12));
  t.end();
});
