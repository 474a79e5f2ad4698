import t from "tap";
import { testPostgres } from "@coffer/testkit";
import { z } from "zod";
import { createDatabase, type Database, sql } from "@coffer/postgres";
import { createAuditLog } from "../src/index.ts";
import { auditDraft, freshDatabase, recordedTelemetry } from "../../postgres/test/support.ts";

const { url } = await testPostgres(t);

const row = z.object({ id: z.string(), lane: z.string(), payload: z.array(z.unknown()), bytes: z.number() });
const rowsOf = (database: Database) =>
  database.pool.any(
    sql.type(row)`select id, lane, payload, octet_length(payload::text) as bytes from outbox order by position`,
  );

void t.test("a record is durable when its call returns", async (t) => {
  const { database } = await freshDatabase(t, url);
  const audit = createAuditLog(database);
  const record = auditDraft();
  await audit(record);
  const [only, ...more] = await rowsOf(database);
  t.same(only?.payload, [record]);
  t.equal(only?.id, record.id);
  t.equal(only?.lane, "siem-forwarder");
  t.same(more, []);
});

const position = z.object({ inserted: z.string(), flushed: z.string() });
const positionsOf = (database: Database) =>
  database.pool.one(
    sql.type(
      position,
    )`select pg_current_wal_insert_lsn()::text as inserted, pg_current_wal_flush_lsn()::text as flushed`,
  );
const isBehind = (database: Database, one: string, other: string) =>
  database.pool.oneFirst(
    sql.type(z.object({ behind: z.boolean() }))`select ${one}::pg_lsn > ${other}::pg_lsn as behind`,
  );

void t.test("no record is a commit too, which waits until the disk has it, and leaves no row", async (t) => {
  // A server on which commits wait for the disk, by the role of a service.
  const own = new URL((await testPostgres(t, { own: true })).url);
  const admin = createDatabase({ url: own.href, schema: "public", telemetry: recordedTelemetry().telemetry });
  t.teardown(() => admin.close());
  await admin.pool.query(sql.unsafe`create role plain login password 'plain' nosuperuser noreplication`);
  await admin.pool.query(sql.unsafe`grant create on database postgres to plain`);
  own.username = own.password = "plain";
  const { database } = await freshDatabase(t, own.href);
  const audit = createAuditLog(database);
  // One of them may be Postgres's own.
  for (let time = 0; time < 20; time += 1) {
    const { inserted } = await positionsOf(database);
    await audit(null);
    const { flushed } = await positionsOf(database);
    t.ok(await isBehind(database, flushed, inserted), `${flushed} is on the disk, ${inserted} was written before`);
  }
  t.same(await rowsOf(database), []);
});

void t.test("a commit without a record shares the write of waiting records", async (t) => {
  const { database } = await freshDatabase(t, url);
  const audit = createAuditLog(database);
  const records = [auditDraft(), auditDraft()];
  const [first, second] = records;
  await Promise.all([audit(null), audit(first ?? null), audit(null), audit(second ?? null), audit(null)]);
  t.same(
    (await rowsOf(database)).flatMap(({ payload }) => payload),
    records,
  );
});

void t.test("waiting records share one row", async (t) => {
  const { database } = await freshDatabase(t, url);
  const audit = createAuditLog(database);
  const records = Array.from({ length: 50 }, () => auditDraft());
  await Promise.all(records.map((record) => audit(record)));
  const rows = await rowsOf(database);
  t.same(
    rows.map(({ payload }) => payload.length),
    [50],
  );
  t.same(
    rows.flatMap(({ payload }) => payload),
    records,
    "all of them, in order",
  );
});

void t.test("more than a request on the bus can carry becomes several rows in the same write", async (t) => {
  const { database } = await freshDatabase(t, url);
  const audit = createAuditLog(database);
  const long = { names: Array.from({ length: 60 }, (_, index) => `${index}`.padStart(200, 'quoted " and \\ ')) };
  const records = Array.from({ length: 120 }, () => auditDraft({ changes: long }));
  await Promise.all(records.map((record) => audit(record)));
  const rows = await rowsOf(database);
  t.ok(rows.length > 2);
  t.ok(rows.every(({ bytes }) => bytes <= 192 * 1024 + 200));
  t.same(
    rows.flatMap(({ payload }) => payload),
    records,
  );
});

void t.test("any user agent is stored unchanged", async (t) => {
  const { database } = await freshDatabase(t, url);
  const odd = auditDraft({ source: { ip: null, user_agent: "a\u0000b\ud800 \"'\\ \u{1f511}" } });
  await createAuditLog(database)(odd);
  const stored = await database.prepared<{ text: string }>("text", "select payload::text as text from outbox")([]);
  t.same(JSON.parse(stored[0]?.text ?? ""), [odd]);
});

void t.test("a write that is refused rejects its callers; the next is written", async (t) => {
  const { database } = await freshDatabase(t, url);
  const audit = createAuditLog(database);
  await t.rejects(audit({ ...auditDraft(), id: "not a uuid" }), { name: "QueryFailure", code: "22P02" });
  await audit(auditDraft());
  t.equal((await rowsOf(database)).length, 1);
});

void t.test("the time of each write is a metric", async (t) => {
  const { database, telemetry } = await freshDatabase(t, url);
  await createAuditLog(database)(auditDraft());
  t.match(await telemetry.metrics.registry.metrics(), /coffer_audit_flush_seconds_count\{service="auth-sm"\} 1/);
});
