import { randomUUID } from "node:crypto";
import t from "tap";
import { auditAppendOf, sessionRevoked } from "@coffer/events";
import { testPostgres, until } from "@coffer/testkit";
import { z } from "zod";
import { createDatabase, sql } from "@coffer/postgres";
import { createAuditLog, type Deliver, enqueue, enqueueAudit, startRelay } from "../src/index.ts";
import { emptied, nameOf, relayedNames, relayOn, send, unavailable, waiting } from "./relaying.ts";
import { auditDraft, freshDatabase, latch, recordedTelemetry } from "../../postgres/test/support.ts";

const { url } = await testPostgres(t);
const idOf = (record: unknown) => z.object({ id: z.string() }).parse(record).id;

void t.test("a message is delivered right after its commit, and its row is deleted", async (t) => {
  const { database } = await freshDatabase(t, url);
  const got: unknown[] = [];
  relayOn(t, database, (subject, payloads) => {
    got.push([subject.subject, ...payloads.map(nameOf)]);
    return Promise.resolve();
  });
  await send(database, "a", "b");
  await emptied(database);
  t.same(got, [[sessionRevoked.subject, "a", "b"]]);
});

void t.test("a message of another process is found within the polling time", async (t) => {
  const { database, schema } = await freshDatabase(t, url);
  const got = relayedNames(t, database);
  const other = createDatabase({ url, schema, telemetry: recordedTelemetry().telemetry });
  t.teardown(() => other.close());
  await send(other, "from elsewhere");
  await until("it was found", () => got.length > 0);
  t.same(got, ["from elsewhere"]);
});

void t.test("a late commit of an early position is delivered under load", async (t) => {
  const { database } = await freshDatabase(t, url);
  const got = relayedNames(t, database);
  const { open, opened } = latch();
  const late = database.transaction(async (tx) => {
    const event = { session_id: "late", user_id: "u", at: "x", reason: "logged_out" } as const;
    await enqueue(tx, sessionRevoked, event, { id: randomUUID() });
    await opened;
  });
  // Until scans begin behind it, and longer: some commit always wakes the relay.
  const began = performance.now();
  for (let n = 0; performance.now() - began < 2_500; n += 1) await send(database, String(n));
  t.notOk(got.includes("late"));
  open();
  await late;
  let after = 0;
  await until("it is delivered while more is sent", async () => {
    await send(database, `after ${(after += 1)}`);
    return got.includes("late");
  });
  await emptied(database);
  t.equal(new Set(got).size, got.length);
});

void t.test("a message that was rolled back is never delivered", async (t) => {
  const { database } = await freshDatabase(t, url);
  const got = relayedNames(t, database);
  const failed = database.transaction(async (tx) => {
    const event = { session_id: "undone", user_id: "u", at: "x", reason: "logged_out" } as const;
    await enqueue(tx, sessionRevoked, event, { id: randomUUID() });
    throw new Error("undone");
  });
  await t.rejects(failed);
  await send(database, "done");
  await emptied(database);
  t.same(got, ["done"]);
});

void t.test("audit records from many rows go in one request", async (t) => {
  const { database } = await freshDatabase(t, url);
  const audit = createAuditLog(database);
  const records = Array.from({ length: 40 }, () => auditDraft());
  await Promise.all(records.slice(0, 20).map((record) => audit(record)));
  for (const record of records.slice(20)) await database.transaction((tx) => enqueueAudit(tx, record));
  const requests: unknown[][] = [];
  relayOn(t, database, (subject, payloads) => {
    t.equal(subject.subject, auditAppendOf("auth-sm").subject);
    requests.push(payloads);
    return Promise.resolve();
  });
  await emptied(database);
  t.same(requests, [records]);
});

void t.test("a request carries no more than its limit of JSON, and a row that is larger goes alone", async (t) => {
  const { database } = await freshDatabase(t, url);
  const sized = (bytes: number) => {
    const record = auditDraft();
    const left = bytes - JSON.stringify([{ ...record, changes: { x: "" } }]).length;
    return { ...record, changes: { x: "y".repeat(left) } };
  };
  const records = [sized(1_000), sized(1_000), sized(1_000), sized(2_500), sized(1_000), sized(998)];
  for (const record of records) await database.transaction((tx) => enqueueAudit(tx, record));
  const requests: unknown[][] = [];
  const deliver: Deliver = (_, payloads) => {
    requests.push(payloads);
    return Promise.resolve();
  };
  relayOn(t, database, deliver, { mostBytes: 2_000 });
  await emptied(database);
  t.same(
    requests.map((request) => request.length),
    [1, 1, 1, 1, 2],
    "2,000 bytes with what separates the records are not too many",
  );
  t.same(requests.flat().map(idOf), records.map(idOf));
});

void t.test("a row is deleted only after its delivery was acknowledged", async (t) => {
  const { database } = await freshDatabase(t, url);
  const [delivering, acknowledge] = [latch(), latch()];
  relayOn(t, database, async () => {
    delivering.open();
    await acknowledge.opened;
  });
  await send(database, "a");
  await delivering.opened;
  t.equal(await waiting(database), 1);
  acknowledge.open();
  await emptied(database);
});

void t.test("two relays never have the same row at the same time, and all rows arrive", async (t) => {
  const { database, schema } = await freshDatabase(t, url);
  const underWay = new Set<string>();
  const times = new Map<string, number>();
  let overlaps = 0;
  let together = 0;
  let busy = 0;
  const deliver: Deliver = async (_, payloads) => {
    const names = payloads.map(nameOf);
    busy += 1;
    together = Math.max(together, busy);
    for (const name of names) {
      if (underWay.has(name)) overlaps += 1;
      underWay.add(name);
      times.set(name, (times.get(name) ?? 0) + 1);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const name of names) underWay.delete(name);
    busy -= 1;
    if (Math.random() < 0.1) throw unavailable();
  };
  const databases = [1, 2, 3].map(() => createDatabase({ url, schema, telemetry: recordedTelemetry().telemetry }));
  t.teardown(() => Promise.all(databases.map((each) => each.close())));
  const sent: string[] = [];
  for (const each of databases) relayOn(t, each, deliver, { mostBytes: 2_000 });
  await Promise.all(
    ["a", "b", "c", "d"].map(async (sender) => {
      for (let batch = 0; batch < 10; batch += 1) {
        const names = Array.from({ length: 25 }, (_, index) => `${sender}-${batch}-${index}`);
        sent.push(...names);
        await send(database, ...names);
      }
    }),
  );
  await emptied(database);
  t.equal(overlaps, 0);
  t.ok(together > 1, "they did work at the same time");
  t.same([...times.keys()].sort(), sent.sort());
});

void t.test("close waits for the delivery under way, and nothing is delivered after it", async (t) => {
  const { database } = await freshDatabase(t, url);
  const [delivering, acknowledge] = [latch(), latch()];
  let delivered = 0;
  const relay = startRelay({
    database,
    telemetry: database.telemetry,
    deliver: async () => {
      delivering.open();
      await acknowledge.opened;
      delivered += 1;
    },
  });
  await send(database, "a");
  await delivering.opened;
  const closed = relay.close();
  acknowledge.open();
  await closed;
  t.equal(delivered, 1);
  t.equal(await waiting(database), 0);
  await send(database, "b");
  t.equal(await waiting(database), 1);
});

void t.test("the age of the oldest message is a metric", async (t) => {
  const { database, telemetry } = await freshDatabase(t, url);
  relayOn(t, database, () => Promise.reject(unavailable()));
  const age = async () =>
    Number(
      /coffer_outbox_oldest_age_seconds\{service="auth-sm"\} (\S+)/.exec(
        await telemetry.metrics.registry.metrics(),
      )?.[1],
    );
  t.equal(await age(), 0);
  await send(database, "a");
  await database.pool.query(sql.typeAlias("void")`update outbox set created_at = now() - interval '90 s'`);
  const old = await age();
  t.ok(old >= 90 && old < 120, `${old}`);
});
