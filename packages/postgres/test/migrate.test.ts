import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import t, { type Test } from "tap";
import { testDirectory, testPostgres, until } from "@coffer/testkit";
import { z } from "zod";
import { createDatabase, createMigrationCheck, migrate, MigrationRefused, sql } from "../src/index.ts";
import { recordedTelemetry } from "./support.ts";

const { url } = await testPostgres(t);
const first = { name: "0001_first.sql", text: "create table first (id int); insert into first values (1);" };
const second = { name: "0002_second.sql", text: "create table second (id int); -- ends in a remark" };

/** How many rows a table holds; null when there is no such table. */
async function rowsOf(schema: string, table: string): Promise<number | null> {
  const database = createDatabase({ url, schema, telemetry: recordedTelemetry().telemetry });
  try {
    const exists = await database.pool.exists(
      sql.type(z.object({}))`select from pg_tables where schemaname = ${schema} and tablename = ${table}`,
    );
    if (!exists) return null;
    const count = sql.type(z.object({ n: z.number() }))`select count(*) as n from ${sql.identifier([table])}`;
    return await database.pool.oneFirst(count);
  } finally {
    await database.close();
  }
}

void t.test("a new schema gets the service's migrations, in order", async (t) => {
  t.same(await migrate({ url, schema: "fresh", files: [first, second] }), [first.name, second.name]);
  t.equal(await rowsOf("fresh", "first"), 1);
  t.equal(await rowsOf("fresh", "second"), 0);
});

void t.test("migrations of packages come before the service's own, in the order of the packages", async (t) => {
  const folders = testDirectory(t);
  const folderOf = async (name: string) => {
    const folder = join(folders, name);
    await mkdir(folder);
    await writeFile(join(folder, `0001_${name}.sql`), `create table ${name} (n int);`);
    return pathToFileURL(`${folder}/`);
  };
  const packages = { messages: await folderOf("messages"), counts: await folderOf("counts") };
  const [messages, counts] = ["messages/0001_messages.sql", "counts/0001_counts.sql"];
  t.same(await migrate({ url, schema: "packaged", packages, files: [first] }), [messages, counts, first.name]);

  const { messages: folder } = packages;
  await migrate({ url, schema: "later", packages: { messages: folder }, files: [first, second] });
  t.same(
    await migrate({ url, schema: "later", packages, files: [first, second] }),
    [counts],
    "a package that came later",
  );
  t.equal(await rowsOf("later", "counts"), 0);
});

void t.test("a second run applies nothing", async (t) => {
  await migrate({ url, schema: "twice", files: [first] });
  t.same(await migrate({ url, schema: "twice", files: [first] }), []);
  t.equal(await rowsOf("twice", "first"), 1);
});

void t.test("migrators that run at the same time apply each file once", async (t) => {
  const runs = Array.from({ length: 8 }, () => migrate({ url, schema: "together", files: [first, second] }));
  const applied = (await Promise.all(runs)).flat();
  t.same(applied, [first.name, second.name]);
  t.equal(await rowsOf("together", "first"), 1);
});

void t.test("an applied file that has changed is refused, and nothing else is applied", async (t) => {
  await migrate({ url, schema: "changed", files: [first] });
  const changed = { ...first, text: `${first.text} ` };
  const refused = migrate({ url, schema: "changed", files: [changed, second] });
  await t.rejects(
    refused,
    new MigrationRefused("0001_first.sql has changed since it was applied; add a new migration instead"),
  );
  t.equal(await rowsOf("changed", "second"), null);
});

void t.test("other line endings are not a change", async (t) => {
  const text = "create table ends (\n  id int\n);\n";
  await migrate({ url, schema: "ends", files: [{ name: "0001_ends.sql", text }] });
  t.same(
    await migrate({ url, schema: "ends", files: [{ name: "0001_ends.sql", text: text.replaceAll("\n", "\r\n") }] }),
    [],
  );
});

void t.test("older code does not change a newer schema", async (t) => {
  await migrate({ url, schema: "newer", files: [first, second] });
  t.same(await migrate({ url, schema: "newer", files: [first] }), []);
  t.equal(await rowsOf("newer", "second"), 0);
  t.same(await migrate({ url, schema: "newer", files: [first, second] }), [], "and the newer code finds it as it was");
});

void t.test("a migration that would come before an applied one is refused", async (t) => {
  await migrate({ url, schema: "late", files: [second] });
  await t.rejects(migrate({ url, schema: "late", files: [first, second] }), MigrationRefused);
  t.equal(await rowsOf("late", "first"), null);
});

void t.test("a schema is migrated once every file is applied, also with migrations of a newer version", async (t) => {
  const database = createDatabase({ url, schema: "checked", telemetry: recordedTelemetry().telemetry });
  t.teardown(() => database.close());
  const check = (...files: (typeof first)[]) => createMigrationCheck(database.pool, { files })();
  t.equal(await check(first), false, "no schema");
  await migrate({ url, schema: "checked" });
  t.equal(await check(), true, "no files");
  t.equal(await check(first), false);
  const waiting = createMigrationCheck(database.pool, { files: [first, second] });
  await migrate({ url, schema: "checked", files: [first] });
  t.equal(await check(first), true);
  t.equal(await waiting(), false, "its newest is missing");
  await migrate({ url, schema: "checked", files: [first, second] });
  t.equal(await waiting(), true);
  t.equal(await check(first), true, "older code");
});

void t.test("a failed file is rolled back, and earlier ones stay", async (t) => {
  const broken = { name: "0002_broken.sql", text: "create table half (id int); select 1 / 0;" };
  await t.rejects(migrate({ url, schema: "broken", files: [first, broken] }), { name: "QueryFailure" });
  t.equal(await rowsOf("broken", "half"), null);
  t.equal(await rowsOf("broken", "first"), 1);
  const mended = { ...broken, text: "create table half (id int);" };
  t.same(await migrate({ url, schema: "broken", files: [first, mended] }), [mended.name]);
});

const index = {
  name: "0002_index.sql",
  text: `-- without transaction
-- A remark; with a semicolon
drop index concurrently if exists by_id;
create index concurrently by_id
  on first (id);
`,
};

/** A connection that ends with the test. */
async function connected(t: Test): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

/** The migrator of the schema, while its index waits for a transaction. */
const building = (schema: string) => `from pg_stat_activity where application_name = '${schema} migrate'
  and query like 'create index concurrently%' and wait_event_type = 'Lock'`;

void t.test("an index is built while a transaction writes, and while other migrators wait", async (t) => {
  await migrate({ url, schema: "built", files: [first] });
  const [writer, observer] = [await connected(t), await connected(t)];
  await writer.query("begin; insert into built.first values (2)");
  const runs = Array.from({ length: 4 }, () => migrate({ url, schema: "built", files: [first, index] }));
  await until("the index waits", async () => (await observer.query(`select ${building("built")}`)).rowCount === 1);
  await writer.query("insert into built.first values (3); commit");
  t.same((await Promise.all(runs)).flat(), [index.name]);
  t.equal(await rowsOf("built", "first"), 3);
});

void t.test("an index whose migrator was killed is built by the next one", async (t) => {
  await migrate({ url, schema: "killed", files: [first] });
  const [writer, observer] = [await connected(t), await connected(t)];
  await writer.query("begin; insert into killed.first values (2)");
  const run = t.rejects(migrate({ url, schema: "killed", files: [first, index] }), { code: "unavailable" });
  const kill = `select pg_terminate_backend(pid) ${building("killed")}`;
  await until("the migrator is killed", async () => (await observer.query(kill)).rowCount === 1);
  await run;
  await writer.query("commit");
  const valid = "select indisvalid from pg_index where indexrelid = 'killed.by_id'::regclass";
  t.same((await observer.query(valid)).rows, [{ indisvalid: false }]);
  t.same(await migrate({ url, schema: "killed", files: [first, index] }), [index.name]);
  t.same((await observer.query(valid)).rows, [{ indisvalid: true }]);
});

void t.test("a migration ignores timeouts of the database", async (t) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  const { rows } = await client.query<{ name: string }>(
    "select name from pg_settings where name in ('statement_timeout', 'transaction_timeout')",
  );
  // As an operator's limit for every connection; servers older than 17 have none for transactions.
  const each = async (change: (name: string) => string): Promise<void> => {
    for (const { name } of rows) {
      const format = "select format('alter database %I ', current_database()) || $1 as statement";
      const made = await client.query<{ statement: string }>(format, [change(name)]);
      await client.query(made.rows[0]?.statement ?? "");
    }
  };
  await each((name) => `set ${name} = '200ms'`);
  t.teardown(() => each((name) => `reset ${name}`));
  const slow = { name: "0001_slow.sql", text: "create table slow (id int); select pg_sleep(0.5);" };
  t.same(await migrate({ url, schema: "slow", files: [slow] }), [slow.name]);
});

void t.test("migrations are read from a folder in the order of their numbers", async (t) => {
  const folder = join(t.testdir(), "migrations");
  await mkdir(folder);
  await writeFile(join(folder, "0010_tenth.sql"), "insert into log values (10)");
  await writeFile(join(folder, "0002_second.sql"), "create table log (id int)");
  await writeFile(join(folder, "README.md"), "not a migration");
  t.same(await migrate({ url, schema: "folder", directory: folder }), ["0002_second.sql", "0010_tenth.sql"]);
  await writeFile(join(folder, "11_eleventh.sql"), "select 1");
  await t.rejects(
    migrate({ url, schema: "folder", directory: folder }),
    /11_eleventh\.sql: a migration is named NNNN_name\.sql/,
  );
});

void t.test("a role that may not create schemas can migrate the one it was given", async (t) => {
  await migrate({ url, schema: "owner_side" });
  const database = createDatabase({ url, schema: "owner_side", telemetry: recordedTelemetry().telemetry });
  t.teardown(() => database.close());
  await database.pool.query(sql.typeAlias("void")`create role given login password 'given'`);
  await database.pool.query(sql.typeAlias("void")`create schema given authorization given`);
  const its = new URL(url);
  its.username = "given";
  its.password = "given";
  t.teardown(async () => {
    await database.pool.query(sql.typeAlias("void")`drop owned by given cascade`);
    await database.pool.query(sql.typeAlias("void")`drop role given`);
  });
  t.same(await migrate({ url: its.href, schema: "given", files: [first] }), [first.name]);
  await t.rejects(migrate({ url: its.href, schema: "not_given" }), { name: "QueryFailure", code: "42501" });
});

void t.test("a schema name that needs quoting is refused", async (t) => {
  for (const schema of ["", "Mixed", "with space", "x;drop", '"x"', "x".repeat(64), "1st"]) {
    await t.rejects(migrate({ url, schema }), TypeError, schema);
  }
  t.same(await migrate({ url, schema: "x".repeat(63), files: [first] }), [first.name]);
});
