import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import t from "tap";
import { ServiceError } from "@coffer/errors";
import { testPostgres, until } from "@coffer/testkit";
import { z } from "zod";
import { createAuditLog, enqueueAudit, outboxMigrations, startRelay } from "@coffer/outbox";
import { createDatabase, type Database, migrate, sql } from "../src/index.ts";
import { auditDraft, freshDatabase, recordedTelemetry } from "./support.ts";

const server = await testPostgres(t, { own: true });
const { url } = server;
const number = z.object({ n: z.number() });
const migrations = { packages: { outbox: outboxMigrations } };

const isUnavailable = (error: unknown) =>
  error instanceof ServiceError && error.code === "unavailable" && error.retryAfterSeconds === 1;

/** Everything that a service does with its database, by name. */
function uses(database: Database): Record<string, () => Promise<unknown>> {
  const audit = createAuditLog(database);
  const read = database.prepared<{ n: number }>("one", "select 1 as n");
  return {
    ready: () => database.ready(),
    pool: () => database.pool.one(sql.type(number)`select 1 as n`),
    transaction: () => database.transaction((tx) => enqueueAudit(tx, auditDraft())),
    prepared: () => read([]),
    audit: () => audit(auditDraft()),
  };
}

void t.test("Postgres stops and starts under use: unavailable, then everything works again", async (t) => {
  const { database } = await freshDatabase(t, url);
  // A delivery whose acknowledgement could not be stored is repeated.
  const delivered = new Set<string>();
  const relay = startRelay({
    database,
    telemetry: database.telemetry,
    deliver: (_, payloads) => {
      for (const payload of payloads) delivered.add(JSON.stringify(payload));
      return Promise.resolve();
    },
  });
  t.teardown(() => relay.close());
  const all = uses(database);
  for (const use of Object.values(all)) await use();
  for (let round = 1; round <= 2; round += 1) {
    await server.stop();
    for (const [name, use] of Object.entries(all)) {
      // The machine may stall meanwhile, but not each time.
      const times: number[] = [];
      while (times.length < 3 && !times.some((took) => took < 2_000)) {
        const started = performance.now();
        const error = await use().then(
          () => "no error",
          (reason: unknown) => reason,
        );
        times.push(performance.now() - started);
        t.ok(isUnavailable(error), `${name}: ${String(error)}`);
      }
      t.ok(Math.min(...times) < 2_000 && Math.max(...times) < 10_000, `${name} says so soon: ${times.join()} ms`);
    }
    await server.start();
    for (const [name, use] of Object.entries(all)) await t.resolves(use(), name);
  }
  await until("all messages are delivered", () => delivered.size === 6);
});

void t.test("a service starts while Postgres is away, and works once it is there", async (t) => {
  await migrate({ url, schema: "early", ...migrations });
  await server.stop();
  const { telemetry, log } = recordedTelemetry();
  const database = createDatabase({ url, schema: "early", telemetry });
  t.teardown(() => database.close());
  const relay = startRelay({ database, telemetry, deliver: () => Promise.resolve() });
  t.teardown(() => relay.close());
  const all = uses(database);
  for (const [name, use] of Object.entries(all)) await t.rejects(use(), { code: "unavailable" }, name);
  await t.rejects(migrate({ url, schema: "early", ...migrations }), { code: "unavailable" });
  const writable = async () =>
    /coffer_db_writable\{.*\} (\d)/.exec(
      await telemetry.metrics.registry.getSingleMetricAsString("coffer_db_writable"),
    )?.[1];
  t.equal(await writable(), "0", "a metric says that it is away");
  await until("the relay says what is away", () => log.some((line) => line.includes("Postgres does not answer")));
  t.match(
    log.find((line) => line.includes("Postgres does not answer")),
    "ECONNREFUSED",
  );
  t.notMatch(log.join(""), "the consumer does not answer");
  await server.start();
  for (const [name, use] of Object.entries(all)) await t.resolves(use(), name);
  t.equal(await writable(), "1");
});

void t.test("before its migrations a service waits, and says so once", async (t) => {
  const { telemetry, log } = recordedTelemetry();
  const database = createDatabase({ url, schema: "later", telemetry });
  t.teardown(() => database.close());
  const relay = startRelay({ database, telemetry, deliver: () => Promise.resolve() });
  t.teardown(() => relay.close());
  const audit = createAuditLog(database);
  const uses = [() => database.transaction((tx) => enqueueAudit(tx, auditDraft())), () => audit(auditDraft())];
  for (const use of uses)
    await t.rejects(use(), { code: "unavailable", message: "the database is not migrated yet; try again" });
  await until("the relay says why it waits", () => log.some((line) => line.includes("messages wait")));
  t.match(
    log.find((line) => line.includes("messages wait")),
    "not migrated yet",
  );
  await migrate({ url, schema: "later", ...migrations });
  await until("the relay reads the outbox", () => log.some((line) => line.includes("messages are delivered again")));
  t.notMatch(log.join(""), '"level":"error"');
});

void t.test("the cause of a failed connection is reported without a password", async (t) => {
  const { port } = new URL(url);
  const unreachable: [string, RegExp][] = [
    ["postgres://somebody:secret-word@127.0.0.1:1/none", /ECONNREFUSED/],
    ["postgres://somebody:secret-word@nowhere.invalid/none", /ENOTFOUND|EAI_AGAIN/],
    [`postgres://somebody:secret-word@127.0.0.1:${port}/none?sslmode=require`, /SSL/],
  ];
  for (const [address, reason] of unreachable) {
    const database = createDatabase({ url: address, schema: "none", telemetry: recordedTelemetry().telemetry });
    t.teardown(() => database.close());
    for (const [name, use] of Object.entries(uses(database))) {
      const error = await use().then(
        () => new Error("it works"),
        (thrown: unknown) => thrown as Error, // what is thrown here is an error
      );
      t.ok(isUnavailable(error), `${name}: ${String(error)}`);
      t.match((error.cause as Error).message, reason, name);
      t.notMatch(inspect(error, { depth: 10 }), "secret-word", name);
    }
  }
});

void t.test("Postgres is killed under load: nothing acknowledged is lost, and no write is partial", async (t) => {
  const { database } = await freshDatabase(t, url);
  const audit = createAuditLog(database);
  await database.pool.query(sql.typeAlias("void")`create table account (id uuid primary key)`);
  const acknowledged: string[] = [];
  const audited: string[] = [];
  const odd: unknown[] = [];
  let stop = false;
  let failures = 0;
  const repeat = async (work: (id: string) => Promise<unknown>, done: string[]) => {
    while (!stop) {
      const id = randomUUID();
      try {
        await work(id);
        done.push(id);
      } catch (error) {
        failures += 1;
        if (!isUnavailable(error)) odd.push(error);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  };
  const load = [
    ...Array.from({ length: 8 }, () =>
      repeat(
        (id) =>
          database.transaction(async (tx) => {
            await tx.query(sql.typeAlias("void")`insert into account (id) values (${id})`);
            await enqueueAudit(tx, auditDraft({ id }));
          }),
        acknowledged,
      ),
    ),
    ...Array.from({ length: 8 }, () => repeat((id) => audit(auditDraft({ id })), audited)),
  ];
  for (let round = 0; round < 2; round += 1) {
    const [before, beforeAudited] = [acknowledged.length, audited.length];
    await until("work goes on", () => acknowledged.length > before + 50 && audited.length > beforeAudited + 50);
    const beforeFailures = failures;
    await server.kill();
    await until("work fails", () => failures > beforeFailures + 16);
    await server.start();
  }
  const [before, beforeAudited] = [acknowledged.length, audited.length];
  await until("work goes on", () => acknowledged.length > before + 50 && audited.length > beforeAudited + 50);
  stop = true;
  await Promise.all(load);

  t.same(odd, [], "callers met nothing but unavailable");
  const accounts = new Set(
    await database.pool.anyFirst(sql.type(z.object({ id: z.string() }))`select id from account`),
  );
  const records = new Set(
    await database.pool.anyFirst(
      sql.type(z.object({ id: z.string() }))`select json_array_elements(payload) ->> 'id' as id from outbox`,
    ),
  );
  t.same(
    acknowledged.filter((id) => !accounts.has(id)),
    [],
    "every acknowledged change is there",
  );
  t.same(
    audited.filter((id) => !records.has(id)),
    [],
    "every acknowledged record is there",
  );
  t.same(
    [...accounts].filter((id) => !records.has(id)),
    [],
    "every change has its record",
  );
});

void t.test("a session that an administrator ends is unavailable once, and replaced", async (t) => {
  const { database } = await freshDatabase(t, url, { poolSize: 1 });
  const { database: administrator } = await freshDatabase(t, url);
  const pid = () => database.pool.oneFirst(sql.type(number)`select pg_backend_pid() as n`);
  const terminate = administrator.prepared("end", "select pg_terminate_backend($1, 5000)");
  const end = (n: number) => terminate([n]);
  const error = await database
    .transaction(async (tx) => {
      await end(await tx.oneFirst(sql.type(number)`select pg_backend_pid() as n`));
      await tx.query(sql.type(number)`select 1 as n`);
    })
    .catch((reason: unknown) => reason);
  t.ok(isUnavailable(error), String(error));
  await end(await pid());
  await until("an idle session that was ended is replaced", () => pid().then(() => true, isUnavailable));
  await t.resolves(pid());
});

void t.test("too many connections are unavailable, not an internal error", async (t) => {
  const { database, schema } = await freshDatabase(t, url);
  await database.pool.query(sql.typeAlias("void")`create role narrow login password 'narrow' connection limit 1`);
  await database.pool.query(sql.typeAlias("void")`grant usage on schema ${sql.identifier([schema])} to narrow`);
  const its = new URL(url);
  its.username = "narrow";
  its.password = "narrow";
  const narrow = createDatabase({ url: its.href, schema, telemetry: recordedTelemetry().telemetry });
  t.teardown(() => narrow.close());
  await narrow.transaction(async () => {
    const error = await narrow
      .prepared(
        "one",
        "select 1 as n",
      )([])
      .catch((reason: unknown) => reason);
    t.ok(isUnavailable(error), String(error));
  });
  its.password = "changed";
  const wrong = createDatabase({ url: its.href, schema, telemetry: recordedTelemetry().telemetry });
  t.teardown(() => wrong.close());
  const error = await wrong.ready().catch((reason: unknown) => reason);
  t.ok(isUnavailable(error), "a password that is being changed is a matter of time too");
  t.notMatch(JSON.stringify(error, Object.getOwnPropertyNames(error)), /changed/);
});
