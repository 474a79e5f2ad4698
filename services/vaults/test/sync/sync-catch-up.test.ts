import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import { catchUpSince, vaultViewers } from "@coffer/events";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import { startVaults } from "../support/service.ts";
import { holderOf, type CatchUp, catchUp } from "../support/sync.ts";
import { newRecord, newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { clock, listeners, people } = service;
const patience = { timeoutMilliseconds: 20_000 };

const now = async (): Promise<string> => (await catchUp(service, null)).server_time;

/** The events of one vault, as words. */
function about({ records, vaults }: CatchUp, vaultId: string): string[] {
  return [
    ...vaults
      .filter(({ vault_id }) => vault_id === vaultId)
      .map(({ action, user_ids }) => `${action} ${user_ids?.join() ?? "all"}`),
    ...records
      .filter(({ vault_id }) => vault_id === vaultId)
      .flatMap(({ changes }) => changes.map(({ action, record_id }) => `${action} ${record_id}`)),
  ];
}

await t.test("without a moment the catch-up returns only the present one", async (t) => {
  await holderOf(service, 2);
  t.match(await catchUp(service, null), { records: [], vaults: [], reset: false, server_time: /Z$/, after: null });
});

await t.test("the catch-up since a moment equals the events", async (t) => {
  const { orgId, owner, vault } = await holderOf(service, 0);
  const [other, lost] = [await people.add({ orgId, role: "member" }), await people.add({ orgId, role: "member" })];
  await share(service, owner, vault.id, lost);
  const [changed, gone] = [await newRecord(service, owner, vault.id), await newRecord(service, owner, vault.id)];
  const since = await now();
  const path = `/api/vaults/${vault.id}`;
  await share(service, owner, vault.id, other);
  await call(service, owner, "DELETE", `${path}/members/${lost.userId}`);
  await call(service, owner, "PATCH", path, { body: { name: "Other" } });
  const body = { type: "login", encrypted_data: sealed() };
  const { body: update } = await call(service, owner, "PUT", `${path}/records/${changed.id}`, { body });
  await call(service, owner, "DELETE", `${path}/records/${gone.id}`);
  const made = await newRecord(service, owner, vault.id);
  const caughtUp = await catchUp(service, since);
  const said = about(caughtUp, vault.id);
  for (const one of [
    `vault_deleted ${lost.userId}`,
    `vault_updated ${[owner.userId, other.userId].sort().join()}`,
    `record_deleted ${gone.id}`,
    `record_created ${made.id}`,
  ])
    t.ok(said.includes(one), one);
  // An event from before the moment may be repeated.
  t.ok(said.some((line) => line.startsWith("vault_created") && line.includes(other.userId)));
  const changes = caughtUp.records
    .flatMap(({ changes }) => changes)
    .filter(({ record_id }) => record_id === changed.id);
  t.match(changes, [{ updated_at: update.updated_at }]);
});

await t.test("vault_updated skips the people who got the vault by the change", async (t) => {
  const { orgId, owner } = await holderOf(service, 0);
  const other = await people.add({ orgId, role: "member" });
  const since = await now();
  const made = await newVault(service, owner);
  const shared = await newVault(service, owner);
  await share(service, owner, shared.id, other);
  const { vaults } = await catchUp(service, since);
  const updates = vaults.filter(({ action }) => action === "vault_updated");
  t.notOk(
    updates.some(({ vault_id }) => vault_id === made.id),
    "every viewer received it",
  );
  t.match(
    updates.filter(({ vault_id }) => vault_id === shared.id),
    [{ user_ids: [owner.userId] }],
    "a later viewer does not receive earlier events",
  );
});

await t.test("a person who lost a vault and has it again gets no vault_deleted", async (t) => {
  const { orgId, owner, vault } = await holderOf(service, 0);
  const other = await people.add({ orgId, role: "member" });
  await share(service, owner, vault.id, other);
  const since = await now();
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/members/${other.userId}`);
  await share(service, owner, vault.id, other);
  const actions = (await catchUp(service, since)).vaults.filter(({ vault_id }) => vault_id === vault.id);
  t.notOk(actions.some(({ action }) => action === "vault_deleted"));
});

await t.test("a long catch-up comes in pages, each event once", async (t) => {
  const { owner, vault } = await holderOf(service, 1);
  const since = await now();
  for (let n = 0; n < 3; n += 1) {
    const records = Array.from({ length: 900 }, () => ({ type: "login", encrypted_data: sealed(6) }));
    await call(service, owner, "POST", `/api/vaults/${vault.id}/import`, { body: { records } });
  }
  const doomed = await newVault(service, owner);
  await newRecord(service, owner, doomed.id);
  await call(service, owner, "DELETE", `/api/vaults/${doomed.id}`);
  // Its records go after the answer. Until then a catch-up has them too, for viewers that do not exist.
  const emptied = "SELECT FROM vaults.deleted_vaults WHERE id = $1 AND emptied";
  await until("it is empty", async () => (await execute(service, emptied, [doomed.id])).length === 1);
  const caughtUp = await catchUp(service, since);
  const said = about(caughtUp, vault.id).filter((one) => one.startsWith("record_created"));
  t.ok(caughtUp.parts >= 3, `${caughtUp.parts} parts`);
  t.ok(said.length >= 2700);
  t.equal(new Set(said).size, said.length);
  t.same(about(caughtUp, doomed.id), [`vault_deleted ${owner.userId}`], "a deleted vault has this event only");
});

await t.test("an unknown moment gives `reset`, a malformed one is refused", async (t) => {
  const future = new Date(clock.now().getTime() + 60_000).toISOString();
  t.match(await catchUp(service, future), { reset: true, records: [], vaults: [], after: null });
  t.match(await catchUp(service, "2020-01-01T00:00:00Z"), { reset: true });
  await t.rejects(catchUp(service, "today"), new ServiceError("invalid_request", "since is not a timestamp"));
  const input = { since: null, after: "e30" };
  await t.rejects(listeners.sync.request(catchUpSince, input, patience), { code: "invalid_request" });
});

await t.test("the viewers of a vault are the people who see it now", async (t) => {
  const { orgId, owner, vault } = await holderOf(service, 0);
  const [other, suspended] = [await people.add({ orgId, role: "member" }), await people.add({ orgId, role: "member" })];
  await share(service, owner, vault.id, other);
  await share(service, owner, vault.id, suspended);
  await people.place(suspended, { orgId, role: "member", status: "suspended" });
  const viewersOf = (vault_id: string, after: string | null = null) =>
    listeners.sync.request(vaultViewers, { vault_id, after }, patience);
  t.same(await viewersOf(vault.id), { user_ids: [owner.userId, other.userId].sort(), after: null });
  t.same(await viewersOf(randomUUID()), { user_ids: [], after: null });
  await t.rejects(viewersOf(vault.id, "malformed"), { code: "invalid_request" });
});

await t.test("a page has ten thousand viewers", async (t) => {
  const { vault } = await holderOf(service, 0);
  await execute(
    service,
    `INSERT INTO vaults.sights (user_id, vault_id, began_snapshot)
     SELECT gen_random_uuid(), $1, pg_current_snapshot() FROM generate_series(1, 10000)`,
    [vault.id],
  );
  const first = await listeners.sync.request(vaultViewers, { vault_id: vault.id, after: null }, patience);
  const rest = await listeners.sync.request(vaultViewers, { vault_id: vault.id, after: first.after }, patience);
  t.same([first.user_ids.length, rest.user_ids.length, rest.after], [10_000, 1, null]);
  t.equal(new Set([...first.user_ids, ...rest.user_ids]).size, 10_001);
});
