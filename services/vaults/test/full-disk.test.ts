import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "./support/call.ts";
import { execute } from "./support/held-vault.ts";
import { startVaults } from "./support/service.ts";
import { newRecord, newVault, sealed } from "./support/vaults.ts";

// A full disk, as Postgres reports it: a statement that writes fails with 53100 (disk_full).

const service = await startVaults(t);
const { people, listeners } = service;
const owner = await people.add({ orgId: randomUUID(), role: "owner" });
const vault = await newVault(service, owner);
const record = await newRecord(service, owner, vault.id);
const path = `/api/vaults/${vault.id}/records`;
const content = () => ({ type: "login", encrypted_data: sealed() });
const list = () => call(service, owner, "GET", path);
const make = () => call(service, owner, "POST", path, { body: content() });
const change = () => call(service, owner, "PUT", `${path}/${record.id}`, { body: content() });
const remove = () => call(service, owner, "DELETE", `${path}/${record.id}`);
const found = () =>
  call(service, owner, "POST", "/api/vaults", { body: { name: "Vault", type: "shared", encrypted_key: sealed() } });

await execute(
  service,
  `CREATE FUNCTION vaults.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     RAISE EXCEPTION 'could not extend file "base/5/16384": No space left on device' USING ERRCODE = 'disk_full';
   END $$`,
);
/** Lets every write to this table fail, until the result is called. */
async function fill(table: string): Promise<() => Promise<void>> {
  await execute(
    service,
    `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON vaults.${table} EXECUTE FUNCTION vaults.full_disk()`,
  );
  return async () => {
    await execute(service, `DROP TRIGGER full_disk ON vaults.${table}`);
  };
}
const stored = () => execute(service, "SELECT id, updated_at FROM vaults.records ORDER BY id");
const vaults = () => execute(service, "SELECT id FROM vaults.vaults ORDER BY id");

await t.test("a failed write gets 503 with Retry-After, and succeeds once the disk has space", async (t) => {
  for (const [table, requests] of [
    ["records", { make, change }],
    ["tombstones", { remove }],
    ["vault_members", { found }],
    // The outbox holds every audit record: without it no request succeeds.
    ["outbox", { make, change, remove, found, list }],
  ] as const) {
    const before = [await stored(), await vaults()];
    const empty = await fill(table);
    for (const [name, request] of Object.entries(requests)) {
      const answer = await request();
      t.match(answer, { status: 503, body: { error: "unavailable" } }, `${name} without ${table}`);
      t.match(answer.headers.get("retry-after"), /^\d+$/);
      t.notMatch(JSON.stringify(answer.body), /disk|space|extend/i, "with no word of the store's inside");
    }
    if (table !== "outbox") t.equal((await list()).status, 200, `requests without ${table} succeed`);
    t.strictSame([await stored(), await vaults()], before, "nothing is half done");
    await empty();
    t.equal((await list()).status, 200);
    t.equal((await make()).status, 201);
    t.equal((await change()).status, 200);
    t.equal((await found()).status, 201);
  }
  t.equal((await remove()).status, 204);
});

await t.test("acknowledged writes are stored, audited once and pushed", async (t) => {
  const acknowledged: string[] = [];
  let refused = 0;
  let writing = true;
  const writer = async (): Promise<void> => {
    while (writing) {
      const { status, body } = await make();
      if (status === 201) acknowledged.push(body.id);
      else {
        t.equal(status, 503);
        refused += 1;
      }
    }
  };
  const writers = Promise.all([writer(), writer(), writer()]);
  for (const table of ["records", "outbox"]) {
    const [count, lost] = [acknowledged.length, refused];
    await until("writes are acknowledged", () => acknowledged.length >= count + 10);
    const empty = await fill(table);
    await until("writes are refused", () => refused >= lost + 10);
    await empty();
  }
  const count = acknowledged.length;
  await until("writes are acknowledged again", () => acknowledged.length >= count + 10);
  writing = false;
  await writers;
  const ids = (await list()).body.data.map(({ id }) => id);
  t.strictSame(
    acknowledged.filter((id) => !ids.includes(id)),
    [],
  );
  const creations = () =>
    listeners.audit.filter(({ action }) => action === "record.created").map(({ target }) => target.id);
  await until("each write is audited and published", () => {
    const published = new Set(listeners.records.flatMap(({ changes }) => changes.map(({ record_id }) => record_id)));
    return ids.every((id) => creations().includes(id)) && acknowledged.every((id) => published.has(id));
  });
  t.equal(creations().length, new Set(creations()).size, "and once");
});
