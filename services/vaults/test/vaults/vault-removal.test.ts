import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import { startVaults } from "../support/service.ts";
import { idsOf, quiet, sync } from "../support/sync.ts";
import { newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { people, listeners } = service;
const patience = 30_000;

/** A vault with two viewers and `count` records, inserted by SQL. */
async function filled(count: number) {
  const orgId = randomUUID();
  const [owner, reader] = [await people.add({ orgId, role: "owner" }), await people.add({ orgId, role: "member" })];
  const vault = await newVault(service, owner);
  await share(service, owner, vault.id, reader);
  const rows = await execute<{ id: string }>(
    service,
    `INSERT INTO vaults.records (vault_id, id, type, encrypted_data, created_at, updated_at)
     SELECT $1, gen_random_uuid(), 'login', 'AAAA', now(), now() FROM generate_series(1, $2) RETURNING id`,
    [vault.id, count],
  );
  return { owner, reader, vault, ids: rows.map(({ id }) => id).sort(), path: `/api/vaults/${vault.id}` };
}

async function left(table: "records" | "tombstones", vaultId: string): Promise<number> {
  return (await execute(service, `SELECT FROM vaults.${table} WHERE vault_id = $1`, [vaultId])).length;
}

/** Ends the sweep's connection, as if its process died. Returns whether there was one. */
async function killSweep(): Promise<boolean> {
  const killed = await execute(
    service,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%left_behind%'`,
  );
  return killed.length > 0;
}

await t.test("a large vault is deleted at once, and its records later, also if replicas die", async (t) => {
  const { owner, reader, vault, ids, path } = await filled(5_001);
  const since = await quiet(service, reader);
  // A lock on one of the records, so that the sweep waits.
  const holder = new pg.Client({ connectionString: service.postgres.url });
  await holder.connect();
  t.teardown(() => holder.end());
  await holder.query("BEGIN");
  await holder.query("SELECT FROM vaults.records WHERE id = $1 FOR UPDATE", [ids[1_000]]);

  t.equal((await call(service, owner, "DELETE", path)).status, 204);
  const record = await listeners.record("the record", ({ action, target }) => {
    return action === "vault.deleted" && target.id === vault.id;
  });
  t.equal(record.count, ids.length);
  await until("the sweep waits, and is killed", killSweep, patience);

  const first = ids[1_000] ?? "";
  for (const person of [owner, reader]) {
    t.same((await call(service, person, "GET", "/api/vaults")).body.data, []);
    for (const below of ["", "/members", "/records", `/records/${first}`])
      t.equal((await call(service, person, "GET", path + below)).status, 404, below);
    t.same((await sync(service, person)).changes, []);
  }
  t.same(idsOf((await sync(service, reader, since)).deleted), ids, "each device receives each deletion");
  const other = await newVault(service, owner);
  const body = { id: first, type: "login", encrypted_data: sealed() };
  t.equal((await call(service, owner, "POST", `/api/vaults/${other.id}/records`, { body })).status, 409);
  const again = { id: vault.id, name: "Again", type: "shared", encrypted_key: sealed() };
  t.equal((await call(service, owner, "POST", "/api/vaults", { body: again })).status, 409);

  await holder.query("ROLLBACK");
  await until("all are gone", async () => (await left("records", vault.id)) === 0, patience);
  t.equal(await left("tombstones", vault.id), ids.length, "each leaves its id behind");
  t.equal((await call(service, owner, "POST", `/api/vaults/${other.id}/records`, { body })).status, 409);
  t.same(idsOf((await sync(service, reader, since)).deleted), ids);
});

await t.test("vaults whose records cannot be counted in time are deleted too", async (t) => {
  const both = [await filled(3), await filled(3)];
  let most = 0;
  const noteCounts = async () => {
    const text = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%count(*)%records%'`;
    most = Math.max(most, (await execute(service, text)).length);
  };
  // As if the count took forever.
  const holder = new pg.Client({ connectionString: service.postgres.url });
  await holder.connect();
  t.teardown(() => holder.end());
  await holder.query("BEGIN");
  await holder.query("LOCK TABLE vaults.records");
  let answered = 0;
  const deleted = both.map(async ({ owner, path }) => {
    t.equal((await call(service, owner, "DELETE", path)).status, 204);
    answered += 1;
  });
  await until("both are deleted", async () => {
    await noteCounts();
    return answered === both.length;
  });
  await Promise.all(deleted);
  t.ok(most < 2, "and one is counted at a time");
  for (const { vault } of both) {
    const record = await listeners.record("the record", ({ action, target }) => {
      return action === "vault.deleted" && target.id === vault.id;
    });
    t.equal(record.count, undefined);
  }
  await holder.query("ROLLBACK");
  for (const { vault } of both)
    await until("all are gone", async () => (await left("tombstones", vault.id)) === 3, patience);
});

await t.test("a failed deletion is repeated later, by any replica", async (t) => {
  const { owner, vault, ids, path } = await filled(3);
  await execute(
    service,
    `CREATE FUNCTION vaults.stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
     CREATE TRIGGER stop BEFORE INSERT ON vaults.tombstones FOR EACH STATEMENT EXECUTE FUNCTION vaults.stop()`,
  );
  t.equal((await call(service, owner, "DELETE", path)).status, 204);
  const [remembered] = await execute(service, "SELECT emptied FROM vaults.deleted_vaults WHERE id = $1", [vault.id]);
  t.same(remembered, { emptied: false });
  t.equal(await left("records", vault.id), ids.length);
  await execute(service, "DROP TRIGGER stop ON vaults.tombstones");
  await service.replica();
  await until("all are gone", async () => (await left("tombstones", vault.id)) === ids.length, patience);
  t.equal(await left("records", vault.id), 0);
  const [emptied] = await execute(service, "SELECT emptied FROM vaults.deleted_vaults WHERE id = $1", [vault.id]);
  t.same(emptied, { emptied: true });
});
