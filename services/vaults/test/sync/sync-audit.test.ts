import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import { startVaults } from "../support/service.ts";
import { holderOf, idsOf, part, quiet, sync } from "../support/sync.ts";
import { newRecord, newVault } from "../support/vaults.ts";

const service = await startVaults(t);
const { listeners, people } = service;

/** The counts of the audit records of a request, by organization. */
function countsOf(requestId: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { request, action, reason, org_id, count } of listeners.audit) {
    if (request.id !== requestId || action !== "record.listed" || reason !== "sync") continue;
    counts[String(org_id)] = (counts[String(org_id)] ?? 0) + (count ?? 0);
  }
  return counts;
}

const total = (requestId: string): number => Object.values(countsOf(requestId)).reduce((sum, count) => sum + count, 0);

await t.test("the records that a device receives are audited in each organization", async (t) => {
  const [one, two] = [randomUUID(), randomUUID()];
  const person = await people.add({ orgId: one, role: "owner" }, { orgId: two, role: "owner" });
  const vaults = [
    await newVault(service, person, {}, { "x-coffer-org": one }),
    await newVault(service, person, {}, { "x-coffer-org": two }),
  ];
  for (const [at, count] of [3, 350].entries()) {
    const records = Array.from({ length: count }, () => ({ type: "login", encrypted_data: "AAAA" }));
    await call(service, person, "POST", `/api/vaults/${String(vaults[at]?.id)}/import`, { body: { records } });
  }
  const { requestId, parts } = await sync(service, person);
  t.equal(parts, 2);
  await until("both chains have it", () => {
    const counts = countsOf(requestId);
    return counts[one] === 3 && counts[two] === 350;
  });
  const record = await listeners.record(
    "the reading",
    ({ request, org_id }) => request.id === requestId && org_id === one,
  );
  t.match(record, {
    action: "record.listed",
    time: /\.\d{6}Z$/,
    outcome: "success",
    actor: { type: "user", id: person.userId, session_id: person.sessionId },
    target: { type: "org", id: one },
    source: { ip: "192.0.2.7", user_agent: "device/1" },
    request: { method: "GET", route: "/api/sync/ws", status: 101 },
  });
});

await t.test("records of a person without an organization are audited in the person's own chain", async () => {
  const person = await people.add();
  const vault = await newVault(service, person, { type: "personal" });
  await newRecord(service, person, vault.id);
  const { requestId } = await sync(service, person);
  await until("it is on record", () => countsOf(requestId)["null"] === 1);
});

await t.test("a response without records is not audited", async (t) => {
  const person = await people.add({ orgId: randomUUID(), role: "owner" });
  const vault = await newVault(service, person);
  const record = await newRecord(service, person, vault.id);
  const since = await quiet(service, person);
  await call(service, person, "DELETE", `/api/vaults/${vault.id}/records/${record.id}`);
  const { requestId, deleted } = await sync(service, person, since);
  t.equal(deleted.length, 1);
  const later = await sync(service, person);
  t.same([countsOf(requestId), later.changes], [{}, []]);
});

await t.test("only_deleted returns no changes and writes no audit record", async (t) => {
  const { owner, vault } = await holderOf(service, 350);
  const { changes } = await sync(service, owner);
  const gone = changes.filter((_, index) => index % 2 === 0).slice(0, 20);
  const since = await quiet(service, owner);
  for (const { id } of gone) await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${id}`);
  const records = Array.from({ length: 350 }, () => ({ type: "login", encrypted_data: "AAAA" }));
  await call(service, owner, "POST", `/api/vaults/${vault.id}/import`, { body: { records } });
  const input = { last_sync: since, request_id: randomUUID() };
  const first = await part(service, owner, input);
  t.equal(first.changes.length, 320);
  await until("the changes are audited", () => total(input.request_id) === 320);
  for (const after of [null, first.after]) {
    const alone = await part(service, owner, { ...input, after, only_deleted: true });
    t.same([idsOf(alone.deleted), alone.changes], [idsOf(gone), []]);
  }
  const last = await sync(service, owner);
  await until("the later sync is audited", () => total(last.requestId) === last.changes.length);
  t.equal(total(input.request_id), 320);
  await t.rejects(part(service, owner, { ...input, limit: 1, only_deleted: true }), { code: "invalid_request" });
});

await t.test("no change is sent before it is audited", async (t) => {
  const person = await people.add({ orgId: randomUUID(), role: "owner" });
  const vault = await newVault(service, person);
  await newRecord(service, person, vault.id);
  await sync(service, person);
  await execute(service, "ALTER TABLE vaults.outbox ADD CONSTRAINT nothing CHECK (false) NOT VALID");
  await t.rejects(part(service, person));
  await execute(service, "ALTER TABLE vaults.outbox DROP CONSTRAINT nothing");
  t.equal((await part(service, person)).changes.length, 1);
});
