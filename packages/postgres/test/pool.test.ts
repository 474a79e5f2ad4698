import { setImmediate } from "node:timers/promises";
import t from "tap";
import { ServiceError } from "@coffer/errors";
import { testPostgres, until } from "@coffer/testkit";
import { z } from "zod";
import { sql } from "../src/index.ts";
import { limits } from "../src/connection.ts";
import { createSemaphore } from "../src/semaphore.ts";
import { freshDatabase, latch } from "./support.ts";

const { url } = await testPostgres(t);
const number = z.object({ n: z.number() });

void t.test("waiting for a connection is bounded, and ends in 503", async (t) => {
  const { database } = await freshDatabase(t, url, { poolSize: 2 });
  const held = latch();
  const holders = [1, 2].map(() => database.transaction(() => held.opened));
  const started = performance.now();
  const error = await database.pool.one(sql.type(number)`select 1 as n`).catch((reason: unknown) => reason);
  const waited = performance.now() - started;
  t.ok(error instanceof ServiceError && error.code === "unavailable" && error.retryAfterSeconds === 1);
  // The machine may stall meanwhile, for less than Postgres's own limit.
  t.ok(waited >= limits.acquire - 50 && waited < limits.idleInTransaction - 3_000, `${waited.toFixed(0)} ms`);
  held.open();
  await Promise.all(holders);
  t.equal(await database.pool.oneFirst(sql.type(number)`select 1 as n`), 1, "and then a slot is free");
});

void t.test("waiters get free connections in order", async (t) => {
  const { database } = await freshDatabase(t, url, { poolSize: 1 });
  const held = latch();
  const holder = database.transaction(() => held.opened);
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (n) => {
    await database.pool.one(sql.type(number)`select ${n}::int as n`);
    order.push(n);
  });
  held.open();
  await Promise.all([holder, ...waiting]);
  t.same(order, [1, 2, 3]);
});

void t.test("the semaphore admits as many callers as its size", async (t) => {
  const narrow = createSemaphore(2, 1_000);
  const held = latch();
  const three = [1, 2, 3].map(() => narrow.run(() => held.opened));
  t.equal(narrow.inUse, 2);
  t.equal(narrow.waiting, 1);
  held.open();
  await Promise.all(three);
  t.equal(narrow.inUse, 0);
  await t.rejects(
    narrow.run(() => Promise.reject(new Error("work failed"))),
    /work failed/,
  );
  t.equal(narrow.inUse, 0, "work that fails leaves too");
});

void t.test("a caller that timed out takes no slot of the semaphore", async (t) => {
  const narrow = createSemaphore(1, 1);
  const held = latch();
  const holder = narrow.run(() => held.opened);
  await t.rejects(
    narrow.run(() => Promise.resolve()),
    ServiceError,
  );
  t.equal(narrow.waiting, 0);
  held.open();
  await holder;
  t.equal(await narrow.run(() => Promise.resolve("through")), "through");
});

void t.test("a statement that takes too long is cancelled and is unavailable", async (t) => {
  const { database } = await freshDatabase(t, url);
  await t.rejects(
    database.transaction(async (tx) => {
      await tx.query(sql.typeAlias("void")`set local statement_timeout = 50`);
      await tx.query(sql.type(z.object({}))`select pg_sleep(10)`);
    }),
    { code: "unavailable" },
  );
});

void t.test("a lock that cannot be acquired is unavailable", async (t) => {
  const { database } = await freshDatabase(t, url);
  await database.pool.query(sql.typeAlias("void")`create table busy (id int)`);
  const [locked, release] = [latch(), latch()];
  const holder = database.transaction(async (tx) => {
    await tx.query(sql.typeAlias("void")`lock table busy`);
    locked.open();
    await release.opened;
  });
  await locked.opened;
  await t.rejects(
    database.transaction(async (tx) => {
      await tx.query(sql.typeAlias("void")`set local lock_timeout = 50`);
      await tx.query(sql.type(z.object({}))`select id from busy`);
    }),
    { code: "unavailable" },
  );
  release.open();
  await holder;
});

void t.test("every session is bounded: statements, locks, idle and whole transactions", async (t) => {
  const { database } = await freshDatabase(t, url);
  const setting = z.object({ name: z.string(), setting: z.string() });
  const bounds = await database.transaction((tx) =>
    tx.any(sql.type(setting)`
      select name, setting from pg_settings
      where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')
      order by name`),
  );
  t.same(Object.fromEntries(bounds.map(({ name, setting }) => [name, setting])), {
    idle_in_transaction_session_timeout: "15000",
    lock_timeout: "5000",
    statement_timeout: "10000",
    transaction_timeout: "30000",
  });
});

void t.test("prepared reads: a statement that fails does not disturb those behind it", async (t) => {
  const { database } = await freshDatabase(t, url);
  const divide = database.prepared<{ n: number }>("divide", "select 10 / $1::int as n");
  const answers = await Promise.allSettled([1, 0, 2, 0, 5].map((by) => divide([by])));
  t.same(
    answers.map((answer) => (answer.status === "fulfilled" ? answer.value[0]?.n : "refused")),
    [10, "refused", 5, "refused", 2],
  );
});

void t.test("a column that changes its type under the plan changes the answer, without an error", async (t) => {
  const { database } = await freshDatabase(t, url);
  await database.pool.query(sql.typeAlias("void")`create table shape (n int)`);
  await database.pool.query(sql.typeAlias("void")`insert into shape values (1)`);
  const read = database.prepared<{ n: unknown }>("shape", "select n from shape");
  const checked = () => database.pool.one(sql.type(z.object({ n: z.unknown() }))`select n from shape`);
  for (let index = 0; index < 4; index += 1) {
    // All at once, so that every connection has the plan.
    await Promise.all(Array.from({ length: 8 }, () => Promise.all([read([]), checked()])));
  }
  await database.pool.query(sql.typeAlias("void")`alter table shape alter n type text`);
  const answers = await Promise.all(Array.from({ length: 8 }, () => read([])));
  t.ok(answers.every(([only]) => only?.n === "1"));
  t.same(
    await Promise.all(Array.from({ length: 8 }, checked)),
    Array.from({ length: 8 }, () => ({ n: "1" })),
  );
});

void t.test("repeated texts are prepared, others are not", async (t) => {
  const { database } = await freshDatabase(t, url, { poolSize: 1 });
  for (let index = 0; index < 5; index += 1) {
    await database.pool.one(sql.type(number)`select ${index}::int as n`);
    await database.pool.one(sql.type(z.object({}))`select ${sql.literalValue(String(index))} as once`);
  }
  const prepared = await database.pool.anyFirst(
    sql.type(z.object({ statement: z.string() }))`select statement from pg_prepared_statements`,
  );
  t.equal(prepared.filter((text) => text.includes("::int as n")).length, 1);
  t.equal(prepared.filter((text) => text.includes("as once")).length, 0);
});

void t.test("the use of connections is a metric", async (t) => {
  const { database, telemetry } = await freshDatabase(t, url, { poolSize: 1 });
  const held = latch();
  const holder = database.transaction(() => held.opened);
  const waiter = database.pool.one(sql.type(number)`select 1 as n`);
  const text = await telemetry.metrics.registry.metrics();
  t.match(text, /coffer_db_pool_in_use\{.*pool="transactions".*\} 1/);
  t.match(text, /coffer_db_pool_waiting\{.*pool="transactions".*\} 1/);
  held.open();
  await Promise.all([holder, waiter]);
  const after = await telemetry.metrics.registry.metrics();
  t.match(after, /coffer_db_pool_in_use\{.*pool="transactions".*\} 0/);
  t.match(after, /coffer_db_pool_waiting\{.*pool="transactions".*\} 0/);
});

void t.test("calls that wait for a batched statement count as waiting", async (t) => {
  const { database, telemetry } = await freshDatabase(t, url);
  await database.pool.query(sql.typeAlias("void")`create table locked (n int)`);
  const read = database.preparedEach<{ value: number }>(
    "locked",
    "select requested.n, v as value from unnest($1::int[]) with ordinality as requested (v, n), (select count(*) from locked) c",
  );
  const waiting = async (): Promise<number> => {
    const text = await telemetry.metrics.registry.metrics();
    return Number(/coffer_db_pool_waiting\{.*pool="prepared".*\} (\d+)/.exec(text)?.[1]);
  };
  await read([1]);
  t.equal(await waiting(), 0);
  const held = latch();
  const inside = latch();
  const holder = database.transaction(async (tx) => {
    await tx.query(sql.typeAlias("void")`lock table locked in access exclusive mode`);
    inside.open();
    await held.opened;
  });
  await inside.opened;
  // Two batches run, one for each connection of reads; the calls after them wait for a third.
  const calls = [read([2])];
  await setImmediate();
  calls.push(read([3]));
  await setImmediate();
  calls.push(read([4]), read([5]));
  await setImmediate();
  t.equal(await waiting(), 2);
  held.open();
  await Promise.all([holder, ...calls]);
  t.equal(await waiting(), 0);
});

void t.test("close waits for running statements", async (t) => {
  const { database } = await freshDatabase(t, url, { poolSize: 1 });
  const [inside, held] = [latch(), latch()];
  const work = database.transaction(async (tx) => {
    inside.open();
    await held.opened;
    return tx.oneFirst(sql.type(number)`select 7 as n`);
  });
  await inside.opened;
  const closed = database.close();
  await t.rejects(database.pool.one(sql.type(number)`select 1 as n`), { code: "unavailable" }, "nothing new begins");
  held.open();
  t.equal(await work, 7);
  await closed;
});

void t.test("after close no connection is open, and statements are refused", async (t) => {
  const { database, schema } = await freshDatabase(t, url);
  const { database: other } = await freshDatabase(t, url);
  const sessions = () =>
    other.pool.oneFirst(sql.type(number)`
      select count(*) as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like ${`%${schema} was here%`}`);
  await database.prepared("mark", `select 1 as n /* ${schema} was here */`)([]);
  t.equal(await sessions(), 1);
  await database.close();
  await until("its sessions are gone", async () => (await sessions()) === 0);
  await t.rejects(database.prepared("mark", "select 1 as n")([]), { code: "unavailable" });
  await t.rejects(database.pool.one(sql.type(number)`select 1 as n`), { code: "unavailable" });
});
