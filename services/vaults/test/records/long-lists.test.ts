import { randomUUID } from "node:crypto";
import type { AuditDraft } from "@coffer/events";
import { requestSlowly, until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import type { Person } from "../support/people.ts";
import { startVaults } from "../support/service.ts";
import { newRecord, newVault, share } from "../support/vaults.ts";

// Lists longer than a part, which has at most 1,000 records and ends with the one that reaches 2 MiB.

const service = await startVaults(t);
const { people, listeners } = service;
const large = 256 * 1024;
const largeInPart = 8;

/** A vault with `count` records, inserted by SQL; their ids in order. */
async function filled(count: number, bytes = 4) {
  const orgId = randomUUID();
  const owner = await people.add({ orgId, role: "owner" });
  const vault = await newVault(service, owner);
  const rows = await execute<{ id: string }>(
    service,
    `INSERT INTO vaults.records (vault_id, id, type, encrypted_data, created_at, updated_at)
     SELECT $1, gen_random_uuid(), 'login', repeat('A', $3), now(), now() FROM generate_series(1, $2) RETURNING id`,
    [vault.id, count, bytes],
  );
  return { orgId, owner, vault, path: `/api/vaults/${vault.id}/records`, ids: rows.map(({ id }) => id).sort() };
}

/** The counts in the audit records of a request, once there are `count` records. */
async function recorded(requestId: string, count: number): Promise<Partial<AuditDraft>[]> {
  const found = await until(`the records of ${requestId}`, () => {
    const all = listeners.audit.filter(({ request }) => request.id === requestId);
    return all.length >= count && all;
  });
  return found.map(({ outcome, count: handedOut, reason }) => ({ outcome, count: handedOut, reason }));
}

/** Lists records and reads their audit. */
function parts(counts: readonly number[]): object[] {
  return counts.map((count, n) => ({
    outcome: "success",
    count,
    reason: n === counts.length - 1 ? undefined : "part",
  }));
}

async function listed(person: Person, path: string, count: number) {
  const id = randomUUID();
  const { status, body } = await call(service, person, "GET", path, { headers: { "x-request-id": id } });
  if (status !== 200) throw new Error(`${path} was answered ${status}`);
  return { body, ids: body.data.map((each) => each.id), records: await recorded(id, count) };
}

await t.test("a list that is longer than a part is complete, and each part is audited", async (t) => {
  for (const [count, bytes, counts] of [
    [1_000, 4, [1_000]],
    [1_001, 4, [1_000, 1]],
    [2 * largeInPart + 1, large, [largeInPart, largeInPart, 1]],
  ] as const) {
    const { owner, path, ids } = await filled(count, bytes);
    const list = await listed(owner, path, counts.length);
    t.strictSame(list.ids, ids);
    t.strictSame(Object.keys(list.body), ["data"]);
    t.strictSame(list.records, parts(counts));
  }
});

await t.test("a page has `limit` records, and the next one continues after it", async (t) => {
  const { owner, path, ids } = await filled(3 * largeInPart, large);
  const limit = largeInPart + 2;
  const first = await listed(owner, `${path}?limit=${limit}`, 2);
  t.strictSame(first.records, parts([largeInPart, 2]));
  const second = await listed(owner, `${path}?limit=${limit}&cursor=${String(first.body.next_cursor)}`, 2);
  const third = await listed(owner, `${path}?limit=${limit}&cursor=${String(second.body.next_cursor)}`, 1);
  t.strictSame([...first.ids, ...second.ids, ...third.ids], ids);
  t.equal(third.body.next_cursor, null);
  const exact = await listed(owner, `${path}?limit=${largeInPart}`, 1);
  t.strictSame(exact.records, parts([largeInPart]));
});

await t.test("a caller who loses the vault during a list gets no more parts, and the connection is cut", async (t) => {
  const { orgId, owner, vault, path } = await filled(20 * largeInPart, large);
  const reader = await people.add({ orgId, role: "member" });
  await share(service, owner, vault.id, reader);
  const id = randomUUID();
  const answer = await requestSlowly(service.url + path, {
    authorization: `Bearer ${reader.token}`,
    "x-request-id": id,
  });
  t.equal(answer.status, 200);
  t.equal((await call(service, owner, "DELETE", `/api/vaults/${vault.id}/members/${reader.userId}`)).status, 204);
  await t.rejects(answer.read());
  const records = await until("the refusal", () => {
    const all = listeners.audit.filter(({ request }) => request.id === id);
    return all.some(({ outcome }) => outcome === "denied") && all;
  });
  t.ok(records.filter(({ outcome }) => outcome === "success").every(({ reason }) => reason === "part"));
});

await t.test("records that are created while a long list is sent are not added to it", async (t) => {
  const { owner, vault, path, ids } = await filled(10 * largeInPart, large);
  const answer = await requestSlowly(service.url + path, { authorization: `Bearer ${owner.token}` });
  await execute(
    service,
    `INSERT INTO vaults.records (vault_id, id, type, encrypted_data, created_at, updated_at)
     VALUES ($1, 'ffffffff-ffff-7fff-bfff-ffffffffffff', 'login', 'AAAA', now(), now())`,
    [vault.id],
  );
  const { data } = JSON.parse(await answer.read()) as { data: { id: string }[] }; // as the description says
  t.strictSame(
    data.map((each) => each.id),
    ids,
  );
});

const largestKey = 64 * 1024;
const keysInPart = 32;

/** A person with `count` vaults, inserted by SQL, with keys of the maximum size; their ids in order. */
async function holderOfMany(count: number) {
  const orgId = randomUUID();
  const owner = await people.add({ orgId, role: "owner" });
  const rows = await execute<{ id: string }>(
    service,
    `WITH made AS (
       INSERT INTO vaults.vaults (id, org_id, name, type, created_at, updated_at)
       SELECT gen_random_uuid(), $1, 'Vault', 'shared', now(), now() FROM generate_series(1, $4) RETURNING id
     ),
     held AS (INSERT INTO vaults.vault_members SELECT id, $2, 'manage', repeat('A', $3), 1, now() FROM made),
     seen AS (
       INSERT INTO vaults.sights (user_id, vault_id, org_id, began_snapshot)
       SELECT $2, id, $1, pg_current_snapshot() FROM made
     )
     SELECT id FROM made`,
    [orgId, owner.userId, largestKey, count],
  );
  return { owner, ids: rows.map(({ id }) => id).sort() };
}

await t.test("a list of vaults that is longer than a part is complete, and each part is audited", async (t) => {
  const { owner, ids } = await holderOfMany(2 * keysInPart + 5);
  const list = await listed(owner, "/api/vaults", 3);
  t.strictSame(list.ids, ids);
  t.strictSame(Object.keys(list.body), ["data"]);
  t.strictSame(list.records, parts([keysInPart, keysInPart, 5]));
  t.equal(list.body.data.at(-1)?.encrypted_key.length, largestKey);

  const limit = keysInPart + 8;
  const first = await listed(owner, `/api/vaults?limit=${limit}`, 2);
  t.strictSame(first.records, parts([keysInPart, 8]));
  const second = await listed(owner, `/api/vaults?limit=${limit}&cursor=${String(first.body.next_cursor)}`, 1);
  t.strictSame([...first.ids, ...second.ids], ids);
  t.equal(second.body.next_cursor, null);
});

await t.test("the tag of a long list of vaults covers all parts", async (t) => {
  const { owner, ids } = await holderOfMany(keysInPart + 2);
  const last = ids.at(-1) ?? "";
  const get = async (held: string) =>
    call(service, owner, "GET", "/api/vaults", { headers: { "if-none-match": held } });
  let tag = (await get('"none"')).headers.get("etag") ?? "";
  const changes: [string, () => Promise<unknown>][] = [
    ["a record", () => newRecord(service, owner, last)],
    ["a name", () => call(service, owner, "PATCH", `/api/vaults/${last}`, { body: { name: "Other" } })],
    [
      "a key",
      () => execute(service, "UPDATE vaults.vault_members SET encrypted_key = 'BBBB' WHERE vault_id = $1", [last]),
    ],
    ["a vault fewer", () => call(service, owner, "DELETE", `/api/vaults/${last}`)],
  ];
  for (const [what, change] of changes) {
    t.equal((await get(tag)).status, 304, `before ${what}`);
    await change();
    const changed = await get(tag);
    t.equal(changed.status, 200, what);
    tag = changed.headers.get("etag") ?? "";
  }
});

await t.test("later parts of a list omit lost and new vaults", async (t) => {
  const { owner, ids } = await holderOfMany(20 * keysInPart);
  const answer = await requestSlowly(`${service.url}/api/vaults`, { authorization: `Bearer ${owner.token}` });
  t.equal((await call(service, owner, "DELETE", `/api/vaults/${ids.at(-2) ?? ""}`)).status, 204);
  await newVault(service, owner);
  const { data } = JSON.parse(await answer.read()) as { data: { id: string }[] }; // as the description says
  t.strictSame(
    data.map((each) => each.id),
    ids.filter((_, n) => n !== ids.length - 2),
  );
});
