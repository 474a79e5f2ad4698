import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import t from "tap";
import { testPostgres, until } from "@coffer/testkit";
import { migrateService } from "../../src/migrate.ts";
import { syncSweep } from "../../src/sync/sweep.ts";
import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import { startVaults } from "../support/service.ts";
import { holderOf, idsOf, pages, quiet, sync } from "../support/sync.ts";
import { newRecord, newVault, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { clock, people } = service;
const day = 24 * 60 * 60 * 1000;

const telemetry = createTelemetry({ service: "vaults", level: "silent" });
const database = createDatabase({ url: service.postgres.url, schema: "vaults", telemetry });
t.teardown(() => database.close());
const sweep = syncSweep({ database, now: clock.now });

async function sweepAll(): Promise<void> {
  while (await sweep.batch());
}

async function count(table: string): Promise<number> {
  const rows = await execute<{ count: number }>(service, `SELECT count(*)::integer AS count FROM vaults.${table}`);
  return rows[0]?.count ?? -1;
}

// Tokens live for minutes: everything is created before the clock moves.
const { orgId, owner, vault } = await holderOf(service, 6);
const other = await people.add({ orgId, role: "member" });
await share(service, owner, vault.id, other);
const away = await quiet(service, owner);
const { server_time: page } = await sync(service, owner, null, 4);
const gone = await newRecord(service, owner, vault.id);
await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${gone.id}`);
await call(service, owner, "DELETE", `/api/vaults/${vault.id}/members/${other.userId}`);
const dropped = await newVault(service, owner);
await call(service, owner, "DELETE", `/api/vaults/${dropped.id}`);
const begun = clock.now().getTime();
const setTo = (milliseconds: number): void => clock.advance(begun + milliseconds - clock.now().getTime());

await t.test("a page may be continued for a day", async (t) => {
  setTo(day - 60_000);
  const rest = await sync(service, owner, page);
  t.same([rest.changes.length, rest.reset], [2, false]);
});

await t.test("a later continuation is a full sync, with reset on each page", async (t) => {
  setTo(day + 60_000);
  const late = await pages(service, owner, page, 4);
  t.same(
    late.map(({ changes, reset }) => [changes.length, reset]),
    [
      [4, true],
      [2, true],
    ],
  );
});

await t.test("older ticks are thinned to one a minute, and a device with another one misses nothing", async (t) => {
  const minute = new Date(Math.floor(begun / 60_000) * 60_000 - 60_000).toISOString();
  await execute(
    service,
    `INSERT INTO vaults.sync_ticks
     SELECT $1::timestamptz + n * interval '1 second', (SELECT min(x::text::bigint)::text::xid8 FROM vaults.sync_ticks)
     FROM generate_series(0, 59) AS n`,
    [minute],
  );
  setTo(2 * day);
  await sync(service, owner);
  await sweepAll();
  const text = "SELECT FROM vaults.sync_ticks WHERE date_trunc('minute', label) = $1";
  t.equal((await execute(service, text, [minute])).length, 1);
  const { deleted, reset } = await sync(service, owner, away);
  t.same([idsOf(deleted), reset], [[gone.id], false]);
});

await t.test("a sweep continues where the previous one ended, and one of another process starts over", async (t) => {
  // A database without a service, which would sweep by itself.
  const postgres = await testPostgres(t);
  await migrateService({ url: postgres.url });
  const own = createDatabase({ url: postgres.url, schema: "vaults", telemetry });
  t.teardown(() => own.close());
  const replica = () => syncSweep({ database: own, now: () => new Date() });
  const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 2 * day).toISOString();
  const addTicks = (from: number, to: number) =>
    execute(
      { postgres },
      `INSERT INTO vaults.sync_ticks
       SELECT $1::timestamptz + n * interval '1 second', '1'::xid8 FROM generate_series($2::integer, $3) AS n`,
      [minute, from, to],
    );
  const remaining = async () =>
    (await execute({ postgres }, "SELECT FROM vaults.sync_ticks WHERE date_trunc('minute', label) = $1", [minute]))
      .length;
  await addTicks(0, 59);
  // The newest tick stays.
  await execute({ postgres }, "INSERT INTO vaults.sync_ticks VALUES (now(), '1'::xid8)");
  const one = replica();
  while (await one.batch());
  t.equal(await remaining(), 1);
  // Inserted before the swept range: shows that this range is not read again.
  await addTicks(1, 1);
  while (await one.batch());
  t.equal(await remaining(), 2);
  const other = replica();
  while (await other.batch());
  t.equal(await remaining(), 1);
});

await t.test("a device that was away for ninety days receives deletions", async (t) => {
  setTo(90 * day - 120_000);
  await sweepAll();
  const { deleted, reset } = await sync(service, owner, away);
  t.same([idsOf(deleted), reset], [[gone.id], false]);
});

await t.test("a device that was away longer gets a full sync", async (t) => {
  setTo(90 * day + 60_000);
  const { deleted, changes, reset } = await sync(service, owner, away);
  t.same([deleted, changes.length, reset], [[], 6, true]);
});

await t.test("rows that no device can request are deleted, and pages with them", async (t) => {
  await sweepAll();
  const before = await Promise.all(["tombstones", "deleted_vaults", "sync_pages"].map(count));
  t.same(
    before.map((rows) => rows > 0),
    [true, true, true],
  );
  await until("deleted vaults are empty", async () => {
    return (await execute(service, "SELECT FROM vaults.deleted_vaults WHERE NOT emptied")).length === 0;
  });
  // A running transaction, also of another test on this server, holds the watermark. Rows that are not
  // older than it stay as long as its tick: repeat until a tick is newer than all of them.
  await until("all of them are deleted", async () => {
    clock.advance(93 * day);
    await sync(service, owner);
    await sweepAll();
    const ended = await execute(service, "SELECT FROM vaults.sights WHERE ended_x IS NOT NULL");
    const after = await Promise.all(["tombstones", "deleted_vaults"].map(count));
    return [...after, ended.length].every((rows) => rows === 0);
  });
  const pageRows = await execute(service, "SELECT FROM vaults.sync_pages WHERE label = $1", [page]);
  t.equal(pageRows.length, 0);
  t.equal((await sync(service, owner, page)).reset, true, "its label is not taken for a moment");
});

await t.test("the newest tick stays, however old it is", async (t) => {
  clock.advance(300 * day);
  await sweepAll();
  t.equal(await count("sync_ticks"), 1);
  t.equal((await sync(service, owner)).changes.length, 6);
});
