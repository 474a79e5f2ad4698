import { randomUUID } from "node:crypto";
import t from "tap";
import { ServiceError } from "@coffer/errors";
import { auditAppend, sessionRevoked } from "@coffer/events";
import { testPostgres } from "@coffer/testkit";
import { z } from "zod";
import { createAuditLog, createDatabase, enqueue, enqueueAudit, sql, startRelay } from "../src/index.ts";
import type { Database, Deliver, Relay, RelayOptions } from "../src/index.ts";
import { auditDraft, freshDatabase, gate, keptTelemetry, until } from "./support.ts";

const { url } = await testPostgres(t);
const unavailable = () => new ServiceError("unavailable", "nobody answers");

/** Writes events whose session ids are `names`, in one transaction. */
const send = (database: Database, ...names: string[]) =>
  database.transaction(async (tx) => {
    for (const session_id of names) {
      const event = { session_id, user_id: "u", at: "2026-11-20T10:00:00.000000Z", reason: "logged_out" } as const;
      await enqueue(tx, sessionRevoked, event, { id: randomUUID() });
    }
  });
const nameOf = (payload: unknown) => z.object({ session_id: z.string() }).parse(payload).session_id;
const idOf = (record: unknown) => z.object({ id: z.string() }).parse(record).id;
const waiting = (database: Database) =>
  database.pool.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*) as n from outbox`);
const emptied = (database: Database) => until("the outbox is empty", async () => (await waiting(database)) === 0);
/** As if the time for the next attempt had come. */
const due = (database: Database) => database.pool.query(sql.typeAlias("void")`update outbox set not_before = null`);

function relayOn(
  t: { teardown(work: () => unknown): unknown },
  database: Database,
  deliver: Deliver,
  options: Partial<RelayOptions> = {},
): Relay {
  const relay = startRelay({ database, deliver, telemetry: database.telemetry, ...options });
  t.teardown(() => relay.close());
  return relay;
}

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

void t.test("what another process wrote is found within the polling time", async (t) => {
  const { database, schema } = await freshDatabase(t, url);
  const got: string[] = [];
  relayOn(t, database, (_, payloads) => {
    got.push(...payloads.map(nameOf));
    return Promise.resolve();
  });
  const other = createDatabase({ url, schema, telemetry: keptTelemetry().telemetry });
  t.teardown(() => other.close());
  await send(other, "from elsewhere");
  await until("it was found", () => got.length > 0, 2);
  t.same(got, ["from elsewhere"]);
});

void t.test("a message that was rolled back is never delivered", async (t) => {
  const { database } = await freshDatabase(t, url);
  const got: string[] = [];
  relayOn(t, database, (_, payloads) => {
    got.push(...payloads.map(nameOf));
    return Promise.resolve();
  });
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
    t.equal(subject.subject, auditAppend.subject);
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
  const [delivering, acknowledge] = [gate(), gate()];
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
  const databases = [1, 2, 3].map(() => createDatabase({ url, schema, telemetry: keptTelemetry().telemetry }));
  t.teardown(() => Promise.all(databases.map((each) => each.close())));
  const sent: string[] = [];
  for (const each of databases) relayOn(t, each, deliver, { mostBytes: 2_000 });
  await Promise.all(
    Array.from({ length: 40 }, async (_, batch) => {
      const names = Array.from({ length: 25 }, (__, index) => `${batch}-${index}`);
      sent.push(...names);
      await send(database, ...names);
    }),
  );
  await emptied(database);
  t.equal(overlaps, 0);
  t.ok(together > 1, "they did work at the same time");
  t.same([...times.keys()].sort(), sent.sort());
});

void t.test(
  "while nobody answers, everything waits, nothing is parked, and it arrives when they are back",
  async (t) => {
    const { database, log } = await freshDatabase(t, url);
    let away = true;
    let attempts = 0;
    const got: string[] = [];
    const relay = relayOn(t, database, (_, payloads) => {
      attempts += 1;
      if (away) return Promise.reject(unavailable());
      got.push(...payloads.map(nameOf));
      return Promise.resolve();
    });
    await send(database, "a", "b");
    await until("it was tried often enough to be suspected", () => {
      relay.nudge();
      return attempts >= 6;
    });
    const row = z.object({ attempts: z.number(), not_before: z.null() });
    t.same(await database.pool.any(sql.type(row)`select attempts, not_before from outbox`), [
      { attempts: 0, not_before: null },
      { attempts: 0, not_before: null },
    ]);
    away = false;
    relay.nudge();
    await emptied(database);
    t.same(got.sort(), ["a", "b"]);
    t.equal(log.filter((line) => line.includes("messages wait")).length, 1, "said once, not at each attempt");
    t.equal(log.filter((line) => line.includes("messages are taken again")).length, 1);
  },
);

void t.test("while nobody answers, commits do not make the relay try in vain", async (t) => {
  const { database } = await freshDatabase(t, url);
  let attempts = 0;
  relayOn(t, database, () => {
    attempts += 1;
    return Promise.reject(unavailable());
  });
  await send(database, "first");
  await until("it was tried four times", () => attempts >= 4);
  const before = attempts;
  for (let index = 0; index < 50; index += 1) await send(database, `more ${index}`);
  t.ok(attempts - before <= 3, `${attempts - before} attempts during 50 commits`);
});

void t.test("a commit during a vain delivery does not cause the next one", async (t) => {
  const { database } = await freshDatabase(t, url);
  const times: number[] = [];
  relayOn(t, database, async () => {
    times.push(performance.now());
    await send(database, "during");
    throw unavailable();
  });
  await send(database, "first");
  await until("it was tried three times", () => times.length === 3);
  const [first = 0, second = 0, third = 0] = times;
  t.ok(second - first >= 140, `${(second - first).toFixed(0)} ms`);
  t.ok(third - second >= 290, `${(third - second).toFixed(0)} ms`);
});

void t.test("a nudge ends the pause at once", async (t) => {
  const { database } = await freshDatabase(t, url);
  let attempts = 0;
  const relay = relayOn(t, database, () => {
    attempts += 1;
    return Promise.reject(unavailable());
  });
  await send(database, "a");
  await until("pauses are long", () => attempts >= 4);
  const before = attempts;
  const started = performance.now();
  relay.nudge();
  await until("it was tried", () => attempts > before);
  t.ok(performance.now() - started < 500);
});

void t.test("one consumer that is away does not hold up the messages for others", async (t) => {
  const { database } = await freshDatabase(t, url);
  const events: string[] = [];
  relayOn(t, database, (subject, payloads) => {
    if (subject.subject === auditAppend.subject) return Promise.reject(unavailable());
    events.push(...payloads.map(nameOf));
    return Promise.resolve();
  });
  for (let index = 0; index < 10; index += 1) {
    await database.transaction((tx) => enqueueAudit(tx, auditDraft()));
    await send(database, `${index}`);
  }
  await until("all events are there", () => events.length === 10);
  t.equal(await waiting(database), 10);
});

void t.test("a message that is refused is parked, and none of the others waits for it", async (t) => {
  const { database, log, telemetry } = await freshDatabase(t, url);
  const got: string[] = [];
  let refusals = 0;
  relayOn(t, database, (_, payloads) => {
    const names = payloads.map(nameOf);
    if (names.includes("poison")) {
      refusals += 1;
      return Promise.reject(new ServiceError("invalid_request", "not understood"));
    }
    got.push(...names);
    return Promise.resolve();
  });
  const others = Array.from({ length: 20 }, (_, index) => `${index}`);
  await send(database, ...others.slice(0, 13), "poison", ...others.slice(13));
  await until("the others are there", () => got.length === 20);
  t.same(got, others, "each once, in order");
  const row = z.object({ attempts: z.number(), problem: z.string().nullable(), wait: z.number().nullable() });
  const left = () =>
    database.pool.any(sql.type(row)`
      select attempts, problem, round(extract(epoch from not_before - clock_timestamp()))::int as wait from outbox`);
  const waits: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    await until("it was tried again", async () => (await left())[0]?.attempts === attempt);
    const [only] = await left();
    waits.push(only?.wait ?? 0);
    t.equal(only?.problem, "invalid_request: not understood");
    if (attempt === 5) break;
    await due(database);
  }
  t.same(waits, [1, 5, 30, 120, 3600]);
  t.equal(log.filter((line) => line.includes("a message is parked")).length, 1);
  t.match(await telemetry.metrics.registry.metrics(), /coffer_outbox_parked\{service="auth-sm"\} 1/);
  const before = refusals;
  await send(database, "later");
  await until("what comes later is there", () => got.includes("later"));
  t.equal(refusals, before, "a parked message is left in peace");
});

void t.test("a parked message is delivered when its hour has come and it is understood", async (t) => {
  const { database } = await freshDatabase(t, url);
  let understood = false;
  const got: string[] = [];
  relayOn(t, database, (_, payloads) => {
    if (!understood) return Promise.reject(new ServiceError("invalid_request", "not yet"));
    got.push(...payloads.map(nameOf));
    return Promise.resolve();
  });
  await send(database, "from a newer version");
  await until("it was refused", () =>
    database.pool.exists(sql.type(z.object({}))`select from outbox where attempts = 1`),
  );
  understood = true;
  await due(database);
  await emptied(database);
  t.same(got, ["from a newer version"]);
});

void t.test("a message that silences its consumer is found out and parked too", async (t) => {
  const { database } = await freshDatabase(t, url);
  const got: string[] = [];
  relayOn(t, database, (_, payloads) => {
    const names = payloads.map(nameOf);
    if (names.includes("poison")) return Promise.reject(unavailable());
    got.push(...names);
    return Promise.resolve();
  });
  await send(database, "poison", "a", "b", "c");
  await until("the others are there", () => got.length === 3);
  await until("it is noted", () => database.pool.exists(sql.type(z.object({}))`select from outbox where attempts = 1`));
  t.same(got.sort(), ["a", "b", "c"]);
});

void t.test("a consumer that fails whatever it is given parks nothing", async (t) => {
  const { database } = await freshDatabase(t, url);
  let attempts = 0;
  const relay = relayOn(t, database, () => {
    attempts += 1;
    return Promise.reject(new ServiceError("internal_error", "a bug"));
  });
  await send(database, "a", "b", "c");
  await until("it was tried often", () => {
    relay.nudge();
    return attempts >= 12;
  });
  t.equal(await database.pool.exists(sql.type(z.object({}))`select from outbox where attempts > 0`), false);
});

void t.test("a delivery that never ends is given up and tried again", async (t) => {
  const { database } = await freshDatabase(t, url);
  let attempts = 0;
  const deliver: Deliver = () => {
    attempts += 1;
    return attempts === 1 ? new Promise(() => undefined) : Promise.resolve();
  };
  relayOn(t, database, deliver, { deliverMilliseconds: 50 });
  await send(database, "a");
  await emptied(database);
  t.equal(attempts, 2);
});

void t.test("rows of a subject that this version does not know are left for one that does", async (t) => {
  const { database } = await freshDatabase(t, url);
  await send(database, "known");
  await database.pool.query(sql.typeAlias("void")`
    insert into outbox (lane, id, subject, payload)
    values ('event', ${randomUUID()}, 'coffer.evt.newer.thing', '{}'), ('newer', ${randomUUID()}, 'coffer.rpc.newer.ask', '{}')`);
  let delivered = 0;
  relayOn(t, database, (_, payloads) => {
    delivered += payloads.length;
    return Promise.resolve();
  });
  await send(database, "also known");
  await until("the known ones are delivered", async () => (await waiting(database)) === 2);
  t.equal(delivered, 2);
  t.equal(await database.pool.exists(sql.type(z.object({}))`select from outbox where attempts > 0`), false);
});

void t.test("close waits for the delivery under way, and nothing is delivered after it", async (t) => {
  const { database } = await freshDatabase(t, url);
  const [delivering, acknowledge] = [gate(), gate()];
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
