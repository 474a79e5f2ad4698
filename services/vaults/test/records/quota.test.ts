import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";

import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import type { Person } from "../support/people.ts";
import { startVaults } from "../support/service.ts";
import { jwe, newRecord, newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t, { COFFER_QUOTA_RECORDS: "20", COFFER_QUOTA_MIB: "1" });
const { people, listeners } = service;
const exceeded = { status: 403, body: { error: "quota_exceeded" } };
const kibibyte = 1024;

/** Ciphertext of `length` characters. */
const ciphertext = (length: number): string => "QUJD".repeat(length / 4);
const item = (more: object = {}) => ({ type: "login", encrypted_data: ciphertext(8), ...more });
const create = (by: Person, vaultId: string, more: object = {}) =>
  call(service, by, "POST", `/api/vaults/${vaultId}/records`, { body: item(more) });
const importInto = (by: Person, vaultId: string, count: number) =>
  call(service, by, "POST", `/api/vaults/${vaultId}/import`, {
    body: { records: Array.from({ length: count }, () => item()) },
  });

/** The counted usage of a person, and the records of the vaults that the person pays for. */
async function usageOf({ userId }: Person) {
  const [row] = await execute<{ items: number; bytes: number; records: number; stored: number }>(
    service,
    `SELECT (SELECT coalesce(sum(items), 0) FROM vaults.usage WHERE owner = $1 AND kind = 'records')::integer AS items,
       (SELECT coalesce(sum(bytes), 0) FROM vaults.usage WHERE owner = $1 AND kind = 'records')::integer AS bytes,
       count(*)::integer AS records, coalesce(sum(length(encrypted_data)), 0)::integer AS stored
     FROM vaults.records JOIN vaults.vault_payers USING (vault_id) WHERE user_id = $1`,
    [userId],
  );
  if (row === undefined) throw new Error("no answer");
  return row;
}

/** Two people of an organization; the first one has created a vault. */
async function company() {
  const orgId = randomUUID();
  const owner = await people.add({ orgId, role: "owner" });
  const member = await people.add({ orgId, role: "member" });
  return { orgId, owner, member, vault: await newVault(service, owner) };
}

await t.test(
  "the quota's last record is created, and the next is refused in each of the person's vaults",
  async (t) => {
    const { orgId, owner, vault } = await company();
    t.match(await importInto(owner, vault.id, 19), { status: 201 });
    t.match(await create(owner, vault.id), { status: 201 });
    const message = "the person who pays for this vault has the 20 records that its quota allows: delete some first";
    t.match(await create(owner, vault.id), { ...exceeded, body: { message } });
    const second = await newVault(service, owner, { type: "personal" });
    t.match(await create(owner, second.id), exceeded);
    t.match(await usageOf(owner), { items: 20, records: 20 });
    const record = await listeners.record("the refusal", ({ action, org_id, outcome }) => {
      return action === "record.created" && org_id === orgId && outcome === "denied";
    });
    t.match(record, { reason: "quota_exceeded" });
  },
);

await t.test("the creator of a vault pays for what its members write", async (t) => {
  const { owner, member, vault } = await company();
  await share(service, owner, vault.id, member, "write");
  t.match(await importInto(member, vault.id, 20), { status: 201 });
  t.match(await create(member, vault.id), exceeded);
  t.match(await usageOf(owner), { items: 20 });
  t.match(await usageOf(member), { items: 0 });
  const own = await newVault(service, member);
  t.match(await create(member, own.id), { status: 201 });
});

await t.test("records that are created concurrently fill the quota and never exceed it", async (t) => {
  const { owner, vault } = await company();
  const [second, other] = [await newVault(service, owner), await service.replica()];
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      call(n % 2 === 0 ? service : other, owner, "POST", `/api/vaults/${n % 3 === 0 ? vault.id : second.id}/records`, {
        body: item(),
      }),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  t.equal(statuses.filter((status) => status === 201).length, 20);
  t.equal(statuses.filter((status) => status === 403).length, 40);
  t.match(await usageOf(owner), { items: 20, records: 20 });
});

await t.test("an import that would exceed the quota creates nothing", async (t) => {
  const { owner, vault } = await company();
  t.match(await importInto(owner, vault.id, 21), exceeded);
  t.match(await usageOf(owner), { items: 0, records: 0 });
  t.match(await importInto(owner, vault.id, 20), { status: 201, body: { imported: 20 } });
});

await t.test("ciphertext is counted as it is stored; updates that grow are refused at the quota", async (t) => {
  const { owner, vault } = await company();
  const path = (id: string) => `/api/vaults/${vault.id}/records/${id}`;
  for (let n = 0; n < 3; n += 1) {
    t.match(await create(owner, vault.id, { encrypted_data: ciphertext(256 * kibibyte) }), { status: 201 });
  }
  const last = await create(owner, vault.id, { encrypted_data: ciphertext(256 * kibibyte - 4) });
  t.match(last, { status: 201 });
  const put = (length: number) =>
    call(service, owner, "PUT", path(last.body.id), { body: item({ encrypted_data: ciphertext(length) }) });
  t.match(await create(owner, vault.id, { encrypted_data: ciphertext(8) }), exceeded);
  t.match(await put(256 * kibibyte), { status: 200 }, "the quota's last byte");
  t.match(await create(owner, vault.id, { encrypted_data: ciphertext(4) }), {
    ...exceeded,
    body: { message: /would exceed 1 MiB of ciphertext/ },
  });
  t.match(await put(8), { status: 200 });
  t.match(await put(256 * kibibyte - 8), { status: 200 });
  t.match(await create(owner, vault.id, { encrypted_data: ciphertext(8) }), { status: 201 });
  t.match(await put(256 * kibibyte - 4), exceeded);
  const usage = await usageOf(owner);
  t.equal(usage.bytes, usage.stored);
  t.equal(usage.bytes, 1024 * kibibyte);
});

await t.test("deleted records free quota, also those of a deleted vault", async (t) => {
  const { owner, vault } = await company();
  const { id } = await newRecord(service, owner, vault.id);
  t.match(await importInto(owner, vault.id, 19), { status: 201 });
  t.match(await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${id}`), { status: 204 });
  t.match(await create(owner, vault.id), { status: 201 });
  t.match(await create(owner, vault.id), exceeded);

  const second = await newVault(service, owner);
  t.match(await call(service, owner, "DELETE", `/api/vaults/${vault.id}`), { status: 204 });
  const attempt = async (): Promise<boolean> => (await create(owner, second.id)).status === 201;
  await t.resolves(until("quota for a record", attempt));
  t.match(await usageOf(owner), { items: 1, records: 1 });
  t.same(await execute(service, "SELECT FROM vaults.vault_payers WHERE vault_id = $1", [vault.id]), []);
});

await t.test("a rotation counts its re-sealed records, sent and staged", async (t) => {
  const { owner, vault } = await company();
  for (let n = 0; n < 3; n += 1) {
    t.match(await create(owner, vault.id, { encrypted_data: ciphertext(250 * kibibyte) }), { status: 201 });
  }
  t.match(await create(owner, vault.id), { status: 201 });
  const path = `/api/vaults/${vault.id}`;
  const rotation = async (length: number) => {
    const { data } = (await call(service, owner, "GET", `${path}/records`)).body;
    const { key_version } = (await call(service, owner, "GET", path)).body;
    return {
      key_version,
      encrypted_keys: { users: [{ user_id: owner.userId, encrypted_key: sealed() }] },
      records: data.map(({ id, updated_at }) => ({ id, updated_at, encrypted_data: ciphertext(length) })),
    };
  };
  const rotate = (body: object) => call(service, owner, "POST", `${path}/rotate`, { body });
  t.match(await rotate(await rotation(256 * kibibyte)), { status: 200 }, "up to the quota");
  t.match(await usageOf(owner), { bytes: 1024 * kibibyte });
  t.match(await rotate(await rotation(200 * kibibyte)), { status: 200 });
  t.match(await create(owner, vault.id, { encrypted_data: ciphertext(200 * kibibyte) }), { status: 201 });
  t.match(await rotate(await rotation(256 * kibibyte)), exceeded, "over it");

  const { records, ...rest } = await rotation(100 * kibibyte);
  const rotation_id = randomUUID();
  const stage = (body: object) => call(service, owner, "PUT", `${path}/rotation/${rotation_id}`, { body });
  const large = records.map((each) => ({ ...each, encrypted_data: ciphertext(220 * kibibyte) }));
  t.match(await stage({ records: large }), exceeded, "staged records have a quota of their own");
  t.match(await stage({ records }), { status: 200 });
  t.match(await stage({ records: large }), exceeded, "also where it replaces what was staged before");
  t.match(await rotate({ ...rest, rotation_id }), { status: 200 });
  const usage = await usageOf(owner);
  t.equal(usage.bytes, 500 * kibibyte);
  t.equal(usage.bytes, usage.stored);
  t.match(await stage({ records: [] }), { status: 200 }, "earlier staged records are dropped");
});

await t.test("a vault whose payer stops managing it is paid for by a manager with enough quota", async (t) => {
  const { orgId, owner, member, vault } = await company();
  const third = await people.add({ orgId, role: "member" });
  await importInto(owner, vault.id, 15);
  await share(service, owner, vault.id, member, "manage");
  await share(service, owner, vault.id, third, "manage");
  // The member who has been a manager longer has not enough quota for the vault.
  const own = await newVault(service, member, { type: "personal" });
  await importInto(member, own.id, 10);

  t.match(await call(service, member, "DELETE", `/api/vaults/${vault.id}/members/${owner.userId}`), { status: 204 });
  t.match(await usageOf(owner), { items: 0, records: 0 });
  t.match(await usageOf(member), { items: 10, records: 10 });
  t.match(await usageOf(third), { items: 15, records: 15 });
  t.match(await importInto(member, vault.id, 5), { status: 201 });
  t.match(await create(member, vault.id), exceeded);

  await people.remove(third, orgId);
  t.match(await usageOf(third), { items: 20 }, "no manager has enough quota: the payer stays");
  t.match(await call(service, member, "DELETE", `/api/vaults/${own.id}`), { status: 204 });
  await t.resolves(until("an empty vault", async () => (await usageOf(member)).items === 0));
  const fourth = await people.add({ orgId, role: "member" });
  await share(service, member, vault.id, fourth);
  t.match(
    await usageOf(member),
    { items: 20, records: 20 },
    "a manager with enough quota becomes the payer at the next change",
  );
  t.match(await usageOf(third), { items: 0 });
});

await t.test("a payer who loses manage stops paying", async (t) => {
  const { owner, member, vault } = await company();
  await importInto(owner, vault.id, 3);
  await share(service, owner, vault.id, member, "manage");
  const body = { permission: "write", encrypted_key: jwe };
  const path = `/api/vaults/${vault.id}/members/${owner.userId}`;
  t.match(await call(service, member, "PUT", path, { body }), { status: 200 });
  t.match(await usageOf(owner), { items: 0 });
  t.match(await usageOf(member), { items: 3, records: 3 });
});

/** Puts a person into so many vaults of somebody else, by SQL. */
async function insertVaults({ userId }: Person, orgId: string, count: number): Promise<void> {
  const text = `
    WITH made AS (
      INSERT INTO vaults.vaults (id, org_id, name, type, created_at, updated_at)
      SELECT gen_random_uuid(), $1, 'Many', 'shared', now(), now() FROM generate_series(1, $3::integer) RETURNING id
    )
    INSERT INTO vaults.vault_members (vault_id, user_id, permission, encrypted_key, key_version, added_at)
    SELECT id, $2, 'read', '${jwe}', 1, now() FROM made`;
  await execute(service, text, [orgId, userId, count]);
}

await t.test("a person belongs to 5,000 vaults at most, also when they are created at once", async (t) => {
  const { orgId, owner, vault } = await company();
  await insertVaults(owner, orgId, 4_997);
  const body = { name: "New", type: "personal", encrypted_key: sealed() };
  const other = await service.replica();
  const createAt = (at: { url: string }) => call(at, owner, "POST", "/api/vaults", { body });
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => createAt(n % 2 === 0 ? service : other)));
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 201, 403, 403, 403, 403]);
  const message = "you belong to 5000 vaults, your quota: delete or leave some first";
  t.match(await createAt(service), { ...exceeded, body: { message } });
  t.match(await service.metrics(), /^coffer_quota_refusals_total\{[^}]*kind="vaults",limit="items"[^}]*\} [1-9]/m);
  t.match(await call(service, owner, "DELETE", `/api/vaults/${vault.id}`), { status: 204 });
  t.match(await createAt(service), { status: 201 });
});

await t.test("a colleague shares no vault with a person who belongs to 5,000", async (t) => {
  const { orgId, owner, member, vault } = await company();
  await insertVaults(member, orgId, 4_999);
  await share(service, owner, vault.id, member, "read");
  await share(service, owner, vault.id, member, "write");
  const second = await newVault(service, owner);
  const body = { permission: "read", encrypted_key: jwe };
  const path = `/api/vaults/${second.id}/members/${member.userId}`;
  const message = "this member belongs to 5000 vaults, a quota: they must leave some first";
  t.match(await call(service, owner, "PUT", path, { body }), { ...exceeded, body: { message } });
  t.match(await call(service, member, "DELETE", `/api/vaults/${vault.id}/members/${member.userId}`), { status: 204 });
  t.match(await call(service, owner, "PUT", path, { body }), { status: 200 });
});

await t.test("writes that a quota refused are in the metrics", async (t) => {
  const { owner, vault } = await company();
  const replica = await service.replica();
  const records = Array.from({ length: 21 }, () => item());
  const answer = await call(replica, owner, "POST", `/api/vaults/${vault.id}/import`, { body: { records } });
  t.match(answer, exceeded);
  t.match(await replica.metrics(), /^coffer_quota_refusals_total\{[^}]*kind="records",limit="items"[^}]*\} 1$/m);
});
