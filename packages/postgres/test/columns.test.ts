import t from "tap";
import { testPostgres } from "@coffer/testkit";
import { z } from "zod";
import { RowMismatch, sql } from "../src/index.ts";
import { freshDatabase } from "./support.ts";

const { url } = await testPostgres(t);
const { database } = await freshDatabase(t, url);

void t.test("a timestamptz comes back as ISO 8601 UTC text with microseconds", async (t) => {
  const row = z.object({ at: z.string() });
  const at = async (text: string) => (await database.pool.one(sql.type(row)`select ${text}::timestamptz as at`)).at;
  t.equal(await at("2026-11-20 10:00:00.123456+00"), "2026-11-20T10:00:00.123456Z");
  t.equal(await at("2026-11-20 10:00:00+00"), "2026-11-20T10:00:00.000000Z");
  t.equal(await at("2026-11-20 10:00:00.1+00"), "2026-11-20T10:00:00.100000Z");
  t.equal(await at("2026-11-20 10:00:00.000001+05:30"), "2026-11-20T04:30:00.000001Z");
  t.equal(await at("infinity"), "infinity");
  await t.rejects(at("0044-03-15 12:00:00+00 BC"), RangeError, "a time before year 1 is an error");
});

void t.test("a timestamp goes in as the text that came out", async (t) => {
  const text = "2026-11-20T10:00:00.123456Z";
  const same = await database.pool.one(
    sql.type(z.object({ at: z.string(), list: z.array(z.string()) }))`
      select ${text}::timestamptz as at, array[${text}::timestamptz] as list`,
  );
  t.same(same, { at: text, list: [text] });
});

void t.test("the session's time zone does not depend on the server's", async (t) => {
  await database.transaction(async (tx) => {
    const zone = await tx.oneFirst(
      sql.type(z.object({ zone: z.string() }))`select current_setting('TimeZone') as zone`,
    );
    t.equal(zone, "UTC");
  });
});

void t.test("numbers, text, json and bytes come back as documented, the same on both paths", async (t) => {
  const columns = `9007199254740991::int8 as safe, array[1, 2]::int8[] as list, 1.50::numeric as exact,
    '12345678901234567'::xid8 as xid, '{"a": [1, null]}'::jsonb as jsonb, '\\x00ff'::bytea as bytes,
    '2026-11-20'::date as day, true as yes, null::text as nothing`;
  const expected = {
    safe: 9007199254740991,
    list: [1, 2],
    exact: "1.50",
    xid: "12345678901234567",
    jsonb: { a: [1, null] },
    bytes: Buffer.from([0, 255]),
    day: "2026-11-20",
    yes: true,
    nothing: null,
  };
  const row = z.object({
    safe: z.number(),
    list: z.array(z.number()),
    exact: z.string(),
    xid: z.string(),
    jsonb: z.unknown(),
    bytes: z.instanceof(Buffer),
    day: z.string(),
    yes: z.boolean(),
    nothing: z.null(),
  });
  const checked = await database.pool.one(sql.type(row)`
    select 9007199254740991::int8 as safe, array[1, 2]::int8[] as list, 1.50::numeric as exact,
      '12345678901234567'::xid8 as xid, '{"a": [1, null]}'::jsonb as jsonb, '\\x00ff'::bytea as bytes,
      '2026-11-20'::date as day, true as yes, null::text as nothing`);
  t.same(checked, expected);
  t.same(await database.prepared("columns", `select ${columns}`)([]), [expected]);
});

void t.test("an int8 beyond 2^53 - 1 is an error, never another number", async (t) => {
  const row = z.object({ n: z.number() });
  await t.rejects(database.pool.one(sql.type(row)`select 9007199254740992::int8 as n`), RangeError);
  await t.rejects(database.prepared("beyond", "select 9007199254740992::int8 as n")([]), RangeError);
  t.equal((await database.pool.one(sql.type(row)`select 7::int8 as n`)).n, 7, "the connection is as good as before");
});

void t.test("a row that is not what its schema says is an error that names the column and no value", async (t) => {
  const row = z.object({ id: z.string(), age: z.number() });
  const error = await database.pool.one(sql.type(row)`select 'canary-value' as age, 'x' as id`).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  t.ok(error instanceof RowMismatch);
  t.match(String(error), /age: /);
  t.notMatch(JSON.stringify(error, Object.getOwnPropertyNames(error)), /canary-value/);
});

void t.test("a schema may turn a column into something else, and unknown columns are left out", async (t) => {
  const row = z.object({ n: z.string().transform(Number) });
  t.same(await database.pool.any(sql.type(row)`select '5' as n, 'more' as extra`), [{ n: 5 }]);
});

void t.test("a statement that should return nothing must not return rows", async (t) => {
  await t.rejects(database.pool.query(sql.typeAlias("void")`select 1 as n`), RowMismatch);
});

void t.test("rows are checked inside a transaction too", async (t) => {
  const row = z.object({ n: z.string() });
  await t.rejects(
    database.transaction((tx) => tx.one(sql.type(row)`select 1 as n`)),
    RowMismatch,
  );
});
