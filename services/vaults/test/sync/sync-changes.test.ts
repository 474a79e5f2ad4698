import { randomUUID } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { startVaults } from "../support/service.ts";
import { idsOf, quiet, sync } from "../support/sync.ts";
import { newRecord, newVault, sealed, share, travel } from "../support/vaults.ts";

const service = await startVaults(t);
const { people } = service;

async function two() {
  const orgId = randomUUID();
  const [owner, other] = [await people.add({ orgId, role: "owner" }), await people.add({ orgId, role: "member" })];
  const vault = await newVault(service, owner);
  return { orgId, owner, other, vault };
}

await t.test("a new device gets everything that its person sees", async (t) => {
  const { owner, other, vault } = await two();
  const record = await newRecord(service, owner, vault.id, { type: "card" });
  const { changes, deleted, has_more, reset, server_time } = await sync(service, owner);
  t.same(changes, [
    {
      id: record.id,
      vault_id: vault.id,
      action: "created",
      type: "card",
      encrypted_data: record.encrypted_data,
      updated_at: record.updated_at,
      server_timestamp: record.updated_at,
    },
  ]);
  t.same([deleted, has_more, reset], [[], false, false]);
  t.match(server_time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  t.same((await sync(service, other)).changes, [], "other people do not");
});

await t.test("later syncs bring new, changed and deleted records", async (t) => {
  const { owner, vault } = await two();
  const [unchanged, changed, gone] = [
    await newRecord(service, owner, vault.id),
    await newRecord(service, owner, vault.id),
    await newRecord(service, owner, vault.id),
  ];
  const before = await quiet(service, owner);
  const content = { type: "login", encrypted_data: sealed() };
  const path = `/api/vaults/${vault.id}/records`;
  const { body: update } = await call(service, owner, "PUT", `${path}/${changed.id}`, { body: content });
  await call(service, owner, "DELETE", `${path}/${gone.id}`);
  const made = await newRecord(service, owner, vault.id);
  const { changes, deleted } = await sync(service, owner, before);
  const actions = new Map(changes.map(({ id, action, updated_at }) => [id, `${action} ${updated_at}`]));
  t.equal(actions.get(changed.id), `updated ${update.updated_at}`);
  t.equal(actions.get(made.id), `created ${made.updated_at}`);
  t.notOk(actions.has(gone.id));
  t.match(deleted, [{ id: gone.id, vault_id: vault.id, deleted_at: /^\d{4}-.*Z$/ }]);
  t.notOk(actions.has(unchanged.id), "an unchanged record is not sent again");
});

await t.test("a record that was created and deleted since comes as deleted only", async (t) => {
  const { owner, vault } = await two();
  const { server_time } = await sync(service, owner);
  const record = await newRecord(service, owner, vault.id);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${record.id}`);
  const { changes, deleted } = await sync(service, owner, server_time);
  t.same([changes, idsOf(deleted)], [[], [record.id]]);
});

await t.test("a newly shared vault comes whole, as created records", async (t) => {
  const { owner, other, vault } = await two();
  const records = [await newRecord(service, owner, vault.id), await newRecord(service, owner, vault.id)];
  const before = await sync(service, other);
  await share(service, owner, vault.id, other);
  const { changes } = await sync(service, other, before.server_time);
  t.same(idsOf(changes), idsOf(records));
  t.ok(changes.every(({ action }) => action === "created"));
});

await t.test("a lost vault is deleted on the device, and its later changes are not sent", async (t) => {
  const { owner, other, vault } = await two();
  await share(service, owner, vault.id, other);
  const [first, second] = [await newRecord(service, owner, vault.id), await newRecord(service, owner, vault.id)];
  const early = await newRecord(service, owner, vault.id);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${early.id}`);
  const held = await sync(service, other);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/members/${other.userId}`);
  await newRecord(service, owner, vault.id);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${second.id}`);
  const { changes, deleted } = await sync(service, other, held.server_time);
  t.same(changes, []);
  const named = deleted.filter(({ id }) => id !== early.id);
  t.same(idsOf(named), idsOf([first, second]), "the records it held, those deleted since among them");
  t.equal(new Set(named.map(({ deleted_at }) => deleted_at)).size, 1, "all at the time of the loss");
  const since = await quiet(service, other);
  await newRecord(service, owner, vault.id);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${first.id}`);
  const later = await sync(service, other, since);
  t.same([later.changes, later.deleted], [[], []]);
});

await t.test("a record that was deleted before the vault was shared is never sent", async (t) => {
  const { owner, other, vault } = await two();
  const { server_time } = await sync(service, other);
  const gone = await newRecord(service, owner, vault.id);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${gone.id}`);
  await share(service, owner, vault.id, other);
  const seen = await newRecord(service, owner, vault.id);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${seen.id}`);
  t.same(idsOf((await sync(service, other, server_time)).deleted), [seen.id]);
});

await t.test("travel mode removes unsafe vaults from devices; its end brings them back whole", async (t) => {
  const { owner, vault } = await two();
  const safe = await newVault(service, owner);
  await call(service, owner, "PATCH", `/api/vaults/${safe.id}`, { body: { safe_for_travel: true } });
  const [hidden, shown] = [await newRecord(service, owner, vault.id), await newRecord(service, owner, safe.id)];
  const before = await sync(service, owner);
  await travel(service, owner, true);
  const away = await sync(service, owner, before.server_time);
  t.same(idsOf(away.deleted), [hidden.id]);
  t.notOk(away.changes.some(({ vault_id }) => vault_id === vault.id));
  const fresh = await sync(service, owner);
  t.same([idsOf(fresh.changes), fresh.deleted], [[shown.id], []], "a new device gets the safe one only");
  await travel(service, owner, false);
  const back = await sync(service, owner, away.server_time);
  t.same(
    back.changes.filter(({ vault_id }) => vault_id === vault.id).map(({ id, action }) => [id, action]),
    [[hidden.id, "created"]],
  );
});

await t.test("the records of a deleted vault are deleted", async (t) => {
  const { owner, other, vault } = await two();
  await share(service, owner, vault.id, other);
  const record = await newRecord(service, owner, vault.id);
  const before = await sync(service, other);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}`);
  t.same(idsOf((await sync(service, other, before.server_time)).deleted), [record.id]);
});

await t.test("a vault that was lost and regained comes without records deleted meanwhile", async (t) => {
  const { owner, other, vault } = await two();
  await share(service, owner, vault.id, other);
  const [stays, goes] = [await newRecord(service, owner, vault.id), await newRecord(service, owner, vault.id)];
  const before = await sync(service, other);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/members/${other.userId}`);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${goes.id}`);
  const between = await newRecord(service, owner, vault.id);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${between.id}`);
  await share(service, owner, vault.id, other);
  const { changes, deleted } = await sync(service, other, before.server_time);
  t.same([idsOf(changes), idsOf(deleted)], [[stays.id], [goes.id]]);
});

await t.test("a suspended member gets nothing of the organization's vaults", async (t) => {
  const { orgId, owner, other, vault } = await two();
  await share(service, owner, vault.id, other);
  const record = await newRecord(service, owner, vault.id);
  const before = await sync(service, other);
  await people.place(other, { orgId, role: "member", status: "suspended" });
  t.same(idsOf((await sync(service, other, before.server_time)).deleted), [record.id]);
});
