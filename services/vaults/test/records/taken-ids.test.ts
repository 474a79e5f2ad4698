import { randomUUID } from "node:crypto";
import t from "tap";
import { type Answer, call } from "../support/call.ts";
import { execute, whileHolding } from "../support/held-vault.ts";
import { startVaults } from "../support/service.ts";
import { newRecord, newVault, sealed } from "../support/vaults.ts";

// An id belongs to a record or to a tombstone, never to both: a device would receive both.

const service = await startVaults(t);
const owner = await service.people.add({ orgId: randomUUID(), role: "member" });
const vault = await newVault(service, owner);
const path = `/api/vaults/${vault.id}`;
const item = (id: string = randomUUID()) => ({ id, type: "login", encrypted_data: sealed() });

/** Ids of records that are also tombstones. */
async function both(): Promise<string[]> {
  const rows = await execute<{ id: string }>(
    service,
    "SELECT id FROM vaults.records JOIN vaults.tombstones USING (id)",
  );
  return rows.map(({ id }) => id);
}

const deletion = (id: string) => `
  WITH gone AS (DELETE FROM records WHERE id = '${id}' RETURNING vault_id, id, created_x)
  INSERT INTO tombstones (vault_id, id, created_x, deleted_at) SELECT vault_id, id, created_x, now() FROM gone`;

await t.test("an import that waits for the deletion of a record does not take its id", async (t) => {
  const { id } = await newRecord(service, owner, vault.id);
  const records = [item(), item(id), item()];
  const [answer] = await whileHolding<Answer>(service, { text: deletion(id), values: [], waiting: 1 }, [
    () => call(service, owner, "POST", `${path}/import`, { body: { records } }),
  ]);
  t.match(answer, { status: 201, body: { imported: 2, failed: 1, errors: [{ index: 1, issue: /^id: taken/ }] } });
  t.same(await both(), []);
});

await t.test("a single create that waits for the deletion does not take its id", async (t) => {
  const body = item();
  const made = `INSERT INTO records (vault_id, id, type, encrypted_data, created_at, updated_at)
    VALUES ('${vault.id}', '${body.id}', 'login', 'AAAA', now(), now())`;
  const [answer] = await whileHolding<Answer>(
    service,
    { text: `${made}; ${deletion(body.id)}`, values: [], waiting: 1 },
    [() => call(service, owner, "POST", `${path}/records`, { body })],
  );
  t.match(answer, { status: 409, body: { error: "conflict" } });
  t.same(await both(), []);
});

await t.test("a refused creation is on record with the id that the client made", async (t) => {
  const record = await newRecord(service, owner, vault.id);
  const whole = { name: "Vault", type: "shared", encrypted_key: sealed() };
  const again: [string, object, object][] = [
    [`${path}/records`, item(record.id), { type: "record", id: record.id, parent_id: vault.id }],
    ["/api/vaults", { ...whole, id: vault.id }, { type: "vault", id: vault.id }],
  ];
  for (const [at, body, target] of again) {
    const answer = await call(service, owner, "POST", at, { body });
    t.equal(answer.status, 409);
    const { request_id: id } = answer.body;
    const audited = await service.listeners.record("the refusal", ({ request }) => request.id === id);
    t.match(audited, { outcome: "failure", reason: "conflict", request: { status: 409 } });
    t.strictSame(audited.target, target);
  }
});

await t.test("repeated imports beside deletions: no id belongs to both", async (t) => {
  let taken = 0;
  for (let round = 0; round < 12; round += 1) {
    const { body: made } = await call(service, owner, "POST", `${path}/import`, {
      body: { records: Array.from({ length: 20 }, () => item()) },
    });
    const ids = made.records.map(({ id }) => id);
    const records = [...Array.from({ length: 180 }, () => item()), ...ids.map((id) => item(id))];
    const [imported, ...deleted] = await Promise.all([
      call(service, owner, "POST", `${path}/import`, { body: { records } }),
      ...ids.map((id) => call(service, owner, "DELETE", `${path}/records/${id}`)),
    ]);
    t.equal(imported.status, 201);
    t.ok(deleted.every(({ status }) => status === 204));
    taken += imported.body.failed;
  }
  t.equal(taken, 12 * 20, "each id was taken, by the record or by its deletion");
  t.same(await both(), []);
});
