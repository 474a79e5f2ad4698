import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import t from "tap";
import { ServiceError } from "@coffer/errors";
import { auditAppend, sessionRevoked } from "@coffer/events";
import { testPostgres } from "@coffer/testkit";
import { z } from "zod";
import { enqueue, enqueueAudit } from "@coffer/outbox";
import { type Database, isUniqueViolation, QueryFailure, sql, type Transaction } from "../src/index.ts";
import { auditDraft, freshDatabase, latch } from "./support.ts";

const { url } = await testPostgres(t);

const revoked = { session_id: "s", user_id: "u", at: "2026-11-20T10:00:00.000000Z", reason: "logged_out" } as const;
const number = z.object({ n: z.number() });

async function withAccounts(database: Database): Promise<void> {
  await database.pool.query(sql.typeAlias("void")`
    create table account (id text primary key, email text constraint account_email unique, balance int default 0)`);
}
const insert = (tx: Transaction, id: string, email = id) =>
  tx.query(sql.typeAlias("void")`insert into account (id, email) values (${id}, ${email})`);
const count = (database: Database, table: "account" | "outbox") =>
  database.pool.oneFirst(sql.type(number)`select count(*) as n from ${sql.identifier([table])}`);

void t.test("a change, its event and its audit record commit together", async (t) => {
  const { database } = await freshDatabase(t, url);
  await withAccounts(database);
  const record = auditDraft({ action: "session.revoked" });
  const id = randomUUID();
  const result = await database.transaction(async (tx) => {
    await insert(tx, "a");
    await enqueue(tx, sessionRevoked, revoked, { id });
    await enqueueAudit(tx, record);
    return "done";
  });
  t.equal(result, "done");
  t.equal(await count(database, "account"), 1);
  const row = z.object({ lane: z.string(), id: z.string(), subject: z.string(), payload: z.unknown() });
  const rows = await database.pool.any(sql.type(row)`select lane, id, subject, payload from outbox order by position`);
  t.same(rows, [
    { lane: "event", id, subject: sessionRevoked.subject, payload: revoked },
    { lane: "siem-forwarder", id: record.id, subject: auditAppend.subject, payload: [record] },
  ]);
});

void t.test("a rollback leaves no change, event or audit record, and does not wake the relay", async (t) => {
  const { database } = await freshDatabase(t, url);
  await withAccounts(database);
  let commits = 0;
  database.onCommit(() => (commits += 1));
  const refusal = new ServiceError("access_denied", "no");
  await t.rejects(
    database.transaction(async (tx) => {
      await insert(tx, "a");
      await enqueue(tx, sessionRevoked, revoked, { id: randomUUID() });
      await enqueueAudit(tx, auditDraft());
      throw refusal;
    }),
    refusal,
  );
  t.equal(await count(database, "account"), 0);
  t.equal(await count(database, "outbox"), 0);
  t.equal(commits, 0);
});

void t.test("a constraint that fails at commit undoes the event too", async (t) => {
  const { database } = await freshDatabase(t, url);
  await database.pool.query(sql.typeAlias("void")`
    create table late (id int, constraint late_id unique (id) deferrable initially deferred)`);
  const write = (tx: Transaction) => tx.query(sql.typeAlias("void")`insert into late values (1)`);
  await database.transaction(write);
  const failed = database.transaction(async (tx) => {
    await write(tx);
    await enqueue(tx, sessionRevoked, revoked, { id: randomUUID() });
  });
  await t.rejects(failed, { name: "QueryFailure", code: "23505", constraint: "late_id" });
  t.equal(await count(database, "outbox"), 0);
});

void t.test("listeners are called only for commits that write a message", async (t) => {
  const { database } = await freshDatabase(t, url);
  await withAccounts(database);
  const woken: string[][] = [];
  database.onCommit((lanes) => void woken.push([...lanes]));
  const event = (tx: Transaction) => enqueue(tx, sessionRevoked, revoked, { id: randomUUID() });
  await database.transaction((tx) => insert(tx, "a"));
  await database.transaction((tx) => enqueueAudit(tx, auditDraft()));
  t.same(woken, [], "an audit record waits for the relay's next scan");
  await database.transaction(event);
  t.same(woken, [["event"]]);
  await database.transaction((tx) => tx.transaction(event));
  t.same(woken, [["event"], ["event"]], "a message that was written in a savepoint counts");
});

void t.test("a payload that its subject does not know is refused before it is written", async (t) => {
  const { database } = await freshDatabase(t, url);
  const wrong = { ...revoked, user_id: 5 } as unknown as typeof revoked;
  await t.rejects(
    database.transaction((tx) => enqueue(tx, sessionRevoked, wrong, { id: randomUUID() })),
    { name: "ZodError" },
  );
  const leak = { ...auditDraft(), token: "canary" };
  await t.rejects(
    database.transaction((tx) => enqueueAudit(tx, leak)),
    { name: "ZodError" },
  );
  t.equal(await count(database, "outbox"), 0);
});

void t.test("a unique violation is recognized by constraint, in and outside a transaction", async (t) => {
  const { database } = await freshDatabase(t, url);
  await withAccounts(database);
  await database.transaction((tx) => insert(tx, "a", "canary@example.com"));
  let inside: unknown;
  const outside = await database
    .transaction(async (tx) => {
      await insert(tx, "b", "canary@example.com").catch((error: unknown) => {
        inside = error;
        throw error;
      });
    })
    .catch((error: unknown) => error);
  for (const error of [inside, outside]) {
    t.equal(isUniqueViolation(error), true);
    t.equal(isUniqueViolation(error, "account_email"), true);
    t.equal(isUniqueViolation(error, "account_pkey"), false);
  }
  t.ok(outside instanceof QueryFailure);
  t.notMatch(inspect(outside, { showHidden: true, depth: 10 }), /canary/, "the error quotes no value");
  t.equal(isUniqueViolation(new Error("23505")), false);
});

void t.test("a value that Postgres refuses is not quoted in the error, on either path", async (t) => {
  const { database } = await freshDatabase(t, url);
  const read = sql.type(z.object({ id: z.string() }))`select ${"canary"}::uuid as id`;
  const checked = await database.pool.one(read).catch((error: unknown) => error);
  const prepared = await database
    .prepared(
      "refused",
      "select $1::uuid as id",
    )(["canary"])
    .catch((error: unknown) => error);
  for (const error of [checked, prepared]) {
    t.match(error, { name: "QueryFailure", code: "22P02" });
    t.notMatch(inspect(error, { showHidden: true, depth: 10 }), /canary/);
  }
});

void t.test("a savepoint that fails leaves the transaction usable", async (t) => {
  const { database } = await freshDatabase(t, url);
  await withAccounts(database);
  await database.transaction(async (tx) => {
    await insert(tx, "a");
    await t.rejects(tx.transaction((inner) => insert(inner, "a")));
    await insert(tx, "b");
  });
  t.equal(await count(database, "account"), 2);
});

void t.test("an operation that is refused does not cost a connection", async (t) => {
  const { database } = await freshDatabase(t, url, { poolSize: 1 });
  await withAccounts(database);
  const backend = () => database.pool.oneFirst(sql.type(number)`select pg_backend_pid() as n`);
  const before = await backend();
  await t.rejects(database.transaction(() => Promise.reject(new ServiceError("not_found", "no such account"))));
  await database.transaction((tx) => insert(tx, "a"));
  await t.rejects(database.transaction((tx) => insert(tx, "a")));
  await t.rejects(database.pool.one(sql.type(number)`select 1 as n where false`));
  await t.rejects(database.pool.query(sql.typeAlias("void")`select nonsense from pg_class`), {
    message: /does not exist/,
  });
  t.equal(await backend(), before);
});

void t.test("after a deadlock the work runs again, and both changes are made", async (t) => {
  const { database } = await freshDatabase(t, url);
  await withAccounts(database);
  await database.transaction(async (tx) => {
    await insert(tx, "a");
    await insert(tx, "b");
  });
  const [first, second] = [latch(), latch()];
  let runs = 0;
  const add = (tx: Transaction, id: string) =>
    tx.query(sql.typeAlias("void")`update account set balance = balance + 1 where id = ${id}`);
  const both = async (one: string, other: string, mine: ReturnType<typeof latch>, theirs: ReturnType<typeof latch>) =>
    database.transaction(async (tx) => {
      runs += 1;
      await add(tx, one);
      mine.open();
      await theirs.opened;
      await add(tx, other);
      await enqueueAudit(tx, auditDraft());
    });
  await Promise.all([both("a", "b", first, second), both("b", "a", second, first)]);
  // Usually once; a retry may take its first row before the other transaction has woken up.
  t.ok(runs >= 3, "one of the two ran again");
  t.same(await database.pool.anyFirst(sql.type(number)`select balance as n from account`), [2, 2]);
  t.equal(await count(database, "outbox"), 2, "the run that was undone left no message");
});

void t.test("a statement outside the transaction, from inside of it, is an error", async (t) => {
  const { database } = await freshDatabase(t, url);
  await t.rejects(database.transaction(() => database.pool.one(sql.type(number)`select 1 as n`)));
});

void t.test("SQL that comes as a value is a value", async (t) => {
  const { database } = await freshDatabase(t, url);
  await withAccounts(database);
  const id = "'); drop table account; --";
  await database.transaction((tx) => insert(tx, id));
  t.equal(await count(database, "account"), 1);
});
