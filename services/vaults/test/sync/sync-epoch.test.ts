import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres, until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { storeTick } from "../../src/store/sync/sync-ticks.ts";
import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import type { Person } from "../support/people.ts";
import { startVaults } from "../support/service.ts";
import { holderOf, idsOf, quiet, sync, type Synced } from "../support/sync.ts";
import { newRecord, share } from "../support/vaults.ts";

const service = await startVaults(t, {}, { postgres: await testPostgres(t, { own: true }) });
const { people } = service;

/** Parents come before their children. */
const tables = [
  "memberships",
  "people",
  "vaults",
  "deleted_vaults",
  "vault_members",
  "sights",
  "records",
  "tombstones",
  "sync_ticks",
  "sync_pages",
  "sync_epoch",
];

/** The rows of the service's tables as text, as in a dump. */
async function dump(): Promise<Map<string, string[]>> {
  const all = new Map<string, string[]>();
  for (const table of tables) {
    const rows = await execute<{ row: string }>(service, `SELECT t::text AS row FROM vaults.${table} t`);
    all.set(
      table,
      rows.map(({ row }) => row),
    );
  }
  return all;
}

/** Replaces all rows by those of a dump. */
async function restore(to: { postgres: { url: string } }, rows: ReadonlyMap<string, string[]>): Promise<void> {
  const client = new pg.Client({ connectionString: to.postgres.url });
  await client.connect();
  await client.query(`BEGIN; TRUNCATE ${tables.map((table) => `vaults.${table}`).join()} CASCADE`);
  for (const [table, texts] of rows)
    await client.query(`INSERT INTO vaults.${table} SELECT (row::vaults.${table}).* FROM unnest($1::text[]) AS row`, [
      texts,
    ]);
  await client.query("COMMIT");
  await client.end();
}

/**
 * A full sync once the service has noticed the other database: it does not check again within 20 ms
 * of the last tick.
 */
function begunAnew(person: Person, since: string): Promise<Synced> {
  return until("a new epoch has begun", async () => {
    const got = await sync(service, person, since);
    return got.reset ? got : null;
  });
}

async function shared() {
  const { orgId, owner, vault } = await holderOf(service, 3);
  const other = await people.add({ orgId, role: "member" });
  await share(service, owner, vault.id, other);
  return { owner, other, vault };
}

await t.test("after a restore on the same server every device gets everything again", async (t) => {
  const { owner, vault } = await shared();
  const early = await quiet(service, owner);
  const rows = await dump();
  const lost = await newRecord(service, owner, vault.id);
  const late = await quiet(service, owner);
  await restore(service, rows);
  for (const last_sync of [early, late]) {
    const { changes } = await begunAnew(owner, last_sync);
    t.same([changes.length, idsOf(changes).includes(lost.id)], [3, false]);
  }
  const again = await quiet(service, owner);
  const { changes, reset } = await sync(service, owner, again);
  t.same([changes, reset], [[], false], "from then on it goes on as ever");
});

await t.test("a dump is restored on another server with lower transaction ids", async (t) => {
  await execute(service, "DO $$ BEGIN FOR n IN 1..20000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$");
  const { owner, other, vault } = await shared();
  const gone = await newRecord(service, owner, vault.id);
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${gone.id}`);
  const moment = await quiet(service, other);
  const rows = await dump();
  const elsewhere = await startVaults(t, {}, { postgres: await testPostgres(t, { own: true }) });
  await restore(elsewhere, rows);
  const { changes, reset } = await sync(elsewhere, other, moment);
  t.same([changes.length, reset], [3, true]);
  const ahead = await execute(
    elsewhere,
    `SELECT FROM (
       SELECT x FROM vaults.records UNION ALL SELECT created_x FROM vaults.records
       UNION ALL SELECT x FROM vaults.tombstones UNION ALL SELECT created_x FROM vaults.tombstones
       UNION ALL SELECT x FROM vaults.vaults UNION ALL SELECT began_x FROM vaults.sights
     ) t WHERE x >= pg_snapshot_xmax(pg_current_snapshot())`,
  );
  t.same(ahead, [], "no x is ahead of the server");

  const since = await quiet(elsewhere, other);
  const [first = ""] = idsOf(changes);
  await execute(
    elsewhere,
    `WITH gone AS (DELETE FROM vaults.records WHERE id = $1 RETURNING vault_id, id, created_x)
     INSERT INTO vaults.tombstones (vault_id, id, created_x, deleted_at) SELECT *, now() FROM gone`,
    [first],
  );
  t.same(idsOf((await sync(elsewhere, other, since)).deleted), [first], "later deletions are sent");
  await execute(
    elsewhere,
    `UPDATE vaults.sights SET ended_x = pg_current_xact_id(), ended_snapshot = pg_current_snapshot(), ended_at = now()
     WHERE user_id = $1`,
    [other.userId],
  );
  t.same(
    idsOf((await sync(elsewhere, other, since)).deleted),
    idsOf(changes),
    "and who loses a vault loses its records",
  );
});

await t.test("a server is promoted, or restored to an earlier moment", async (t) => {
  const { owner } = await shared();
  const moment = await quiet(service, owner);
  // As seen by a server on another timeline.
  await execute(
    service,
    "UPDATE vaults.sync_epoch SET timeline = timeline - 1, written_x = pg_current_xact_id() WHERE single",
  );
  t.equal((await begunAnew(owner, moment)).changes.length, 3);
});

await t.test("an operator resets the epoch after the volume was restored", async (t) => {
  const { owner } = await shared();
  const moment = await quiet(service, owner);
  await execute(service, "DELETE FROM vaults.sync_epoch");
  t.equal((await begunAnew(owner, moment)).changes.length, 3);
});

await t.test("a table that Postgres rewrites or freezes does not begin an epoch", async (t) => {
  const { owner } = await shared();
  const moment = await quiet(service, owner);
  await execute(service, "VACUUM (FULL, FREEZE) vaults.sync_epoch");
  t.match(await sync(service, owner, moment), { reset: false, changes: { length: 0 } });
});

await t.test("concurrent replicas begin one epoch", async (t) => {
  const { owner } = await shared();
  await restore(service, await dump());
  await service.replica();
  const answers = await Promise.all(Array.from({ length: 8 }, () => sync(service, owner)));
  t.same(new Set(answers.map(({ changes }) => changes.length)), new Set([3]));
  const moment = answers.at(-1)?.server_time ?? "";
  t.equal((await sync(service, owner, moment)).reset, false);
});

await t.test("labels only grow, and a tick is stored only if the watermark has moved", async (t) => {
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const database = createDatabase({ url: service.postgres.url, schema: "vaults", telemetry });
  t.teardown(() => database.close());
  const labels = async (): Promise<string[]> => {
    const rows = await execute<{ label: string }>(
      service,
      "SELECT label::text FROM vaults.sync_ticks ORDER BY x, label",
    );
    return rows.map(({ label }) => label);
  };
  const before = (await labels()).length;
  for (const ahead of [3_000, -3_000, 0, 86_400_000, -86_400_000, 0]) {
    await execute(service, "SELECT pg_current_xact_id(), pg_sleep(0.021)");
    await Promise.all(Array.from({ length: 4 }, () => storeTick(database.pool, new Date(Date.now() + ahead))));
  }
  const after = await labels();
  t.ok(after.length >= before + 6 && after.length < before + 24, `${after.length - before} ticks for 24 callers`);
  t.same(after, [...after].sort(), "in the order of their watermarks");
  t.equal(new Set(after).size, after.length);

  const holder = new pg.Client({ connectionString: service.postgres.url });
  await holder.connect();
  await holder.query("BEGIN; SELECT pg_current_xact_id()");
  await execute(service, "SELECT pg_sleep(0.021)");
  await storeTick(database.pool, new Date());
  const held = (await labels()).length;
  await execute(service, "SELECT pg_current_xact_id(), pg_sleep(0.021)");
  await storeTick(database.pool, new Date());
  t.equal((await labels()).length, held, "none while a transaction holds it");
  await holder.query("ROLLBACK");
  await holder.end();
});
