import { rmSync } from "node:fs";
import { Readable } from "node:stream";
import pg from "pg";
import t from "tap";
import {
  type DatabaseItem,
  readDatabase,
  startPostgres,
  temporaryDirectory,
  withoutDurability,
  writeDatabase,
} from "@coffer/stores";

const directory = temporaryDirectory("coffer-stores-");
t.teardown(() => rmSync(directory, { recursive: true, force: true }));
const store = await startPostgres({ directory, settings: withoutDurability });
t.teardown(() => store.stop());

let count = 0;
/** A database with a schema of each kind of column that services have, and another schema. */
async function newDatabase(): Promise<{ url: string; query: (text: string) => Promise<unknown[]> }> {
  const name = `copy_${++count}`;
  const url = new URL(store.url);
  await query(store.url, `CREATE DATABASE ${name}`);
  url.pathname = `/${name}`;
  await query(
    url.href,
    `CREATE SCHEMA one; CREATE SCHEMA two; CREATE SEQUENCE one.versions AS bigint;
     CREATE TABLE one.everything (
       id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, data bytea, said text, at timestamptz, x xid8, doc jsonb,
       names text[], ratio double precision, sure boolean);
     CREATE TABLE two.child (id int PRIMARY KEY, of bigint NOT NULL REFERENCES one.everything);
     CREATE TABLE one.migration (name text PRIMARY KEY);`,
  );
  return { url: url.href, query: (text) => query(url.href, text) };
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const fill = `
  SET timezone = 'Asia/Kolkata';
  INSERT INTO one.everything (data, said, at, x, doc, names, ratio, sure) VALUES
    ('\\x00ff22', E'a "quoted", (text)\\\\ and\\na line\\t\\u00e9', '2026-11-24 09:00:00.123456+00', '18446744073709551615',
     '{"a": ["b", null]}', ARRAY['x,y', NULL, '{"}'], 0.1::float8 + 0.2::float8, true),
    (NULL, '', 'infinity', '3', 'null', '{}', 'NaN', false);
  INSERT INTO one.everything (said) SELECT repeat('long ', 60000) FROM generate_series(1, 250);
  INSERT INTO two.child SELECT id, id FROM one.everything;
  SELECT nextval('one.versions') FROM generate_series(1, 41)`;
const digests = `SELECT (SELECT md5(string_agg(t::text, '|' ORDER BY id)) FROM one.everything t) AS everything,
  (SELECT count(*)::int FROM two.child) AS children, (SELECT last_value FROM one.versions) AS version`;
const schemas = ["one", "two"];

await t.test("a copy replaces the content of another database exactly", async (t) => {
  const [from, to] = [await newDatabase(), await newDatabase()];
  await from.query(fill);
  await to.query("INSERT INTO one.everything (said) VALUES ('former'); INSERT INTO one.migration VALUES ('former')");
  t.equal(await writeDatabase(to.url, schemas, readDatabase(from.url, schemas)), 504);
  t.strictSame(await to.query(digests), await from.query(digests));
  t.strictSame(await to.query("INSERT INTO one.everything DEFAULT VALUES RETURNING id::int"), [{ id: 253 }]);
  t.strictSame(await to.query("SELECT nextval('one.versions')::int AS n"), [{ n: 42 }]);
});

await t.test("a partitioned table is copied to a database with other partitions", async (t) => {
  const [from, to] = [await newDatabase(), await newDatabase()];
  const make = "CREATE TABLE two.records (at int PRIMARY KEY, said text) PARTITION BY RANGE (at)";
  const first = (to: number) => `CREATE TABLE two.first PARTITION OF two.records FOR VALUES FROM (0) TO (${to})`;
  const rest = "CREATE TABLE two.rest PARTITION OF two.records DEFAULT";
  await from.query(
    `${make}; ${first(10)}; ${rest}; INSERT INTO two.records SELECT n, 'row' FROM generate_series(0, 29) AS n`,
  );
  await to.query(`${make}; ${first(20)}; ${rest}; INSERT INTO two.records VALUES (15, 'former')`);
  t.equal(await writeDatabase(to.url, schemas, readDatabase(from.url, schemas)), 30);
  const counts = "SELECT (SELECT count(*)::int FROM two.first) AS first, (SELECT count(*)::int FROM two.rest) AS rest";
  t.strictSame(await to.query(counts), [{ first: 20, rest: 10 }]);
  t.strictSame(await from.query(counts), [{ first: 10, rest: 20 }]);
});

await t.test("a concurrent commit is in no table of the copy", async (t) => {
  const [from, to] = [await newDatabase(), await newDatabase()];
  await from.query(fill);
  const items = readDatabase(from.url, schemas);
  async function* withChange(): AsyncGenerator<DatabaseItem> {
    const first = await items.next();
    if (first.done === true) throw new Error("nothing was read");
    await from.query("INSERT INTO one.everything (said) VALUES ('later'); INSERT INTO two.child VALUES (9999, 1)");
    yield first.value;
    yield* items;
  }
  await writeDatabase(to.url, schemas, withChange());
  t.match(await from.query("SELECT count(*)::int AS n FROM two.child"), [{ n: 253 }]);
  t.match(await to.query("SELECT count(*)::int AS n FROM two.child"), [{ n: 252 }]);
  t.match(await to.query("SELECT count(*)::int AS n FROM one.everything WHERE said = 'later'"), [{ n: 0 }]);
});

await t.test("a copy that does not fit is refused without a change", async (t) => {
  const to = await newDatabase();
  await to.query("INSERT INTO one.migration VALUES ('present')");
  const table = (name: string, columns: string[]): DatabaseItem => ({ table: { schema: "one", name, columns } });
  const cases: [DatabaseItem[], RegExp][] = [
    [[table("pg_authid", ["x"])], /"one"\."pg_authid" is not a table of this version/],
    [[table("migration", ["name", "checksum"])], /"one"\."migration" .* has other columns/],
    [[{ row: "(1)" }], /a row is there before its table/],
    [[table("migration", ["name"]), { row: "(new)" }], /"one"\."everything" is missing/],
    [[{ sequence: { schema: "one", name: 'x"; DROP', value: "1", isCalled: true } }], /is not a sequence/],
  ];
  for (const [items, message] of cases) {
    await t.rejects(writeDatabase(to.url, schemas, Readable.from(items)), { name: "CopyRefused", message });
    t.strictSame(await to.query("SELECT name FROM one.migration"), [{ name: "present" }]);
  }
});
