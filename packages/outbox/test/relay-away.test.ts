import t from "tap";
import { isAuditAppend } from "@coffer/events";
import { testPostgres, until } from "@coffer/testkit";
import { z } from "zod";
import { sql } from "@coffer/postgres";
import { type Deliver, enqueueAudit } from "../src/index.ts";
import { emptied, nameOf, relayOn, send, unavailable, waiting } from "./relaying.ts";
import { auditDraft, freshDatabase } from "../../postgres/test/support.ts";

const { url } = await testPostgres(t);

void t.test("without a consumer messages wait, none is parked, and all are delivered when it is back", async (t) => {
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
  await until("it says so", () => log.some((line) => line.includes("messages are delivered again")));
  t.equal(log.filter((line) => line.includes("messages wait")).length, 1, "said once, not at each attempt");
});

void t.test("without a consumer commits do not wake the relay", async (t) => {
  const { database } = await freshDatabase(t, url);
  let attempts = 0;
  relayOn(t, database, () => {
    attempts += 1;
    return Promise.reject(unavailable());
  });
  await send(database, "first");
  await until("it was tried four times", () => attempts >= 4);
  const before = attempts;
  const started = performance.now();
  for (let index = 0; index < 50; index += 1) await send(database, `more ${index}`);
  // A pause now lasts at least 1.2 s.
  const most = 1 + Math.ceil((performance.now() - started) / 1_200);
  t.ok(attempts - before <= most, `${attempts - before} attempts during 50 commits`);
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
  const started = performance.now();
  // Several, to distinguish them from pauses although the machine may stall meanwhile.
  for (let nudges = 0; nudges < 6; nudges += 1) {
    const before = attempts;
    relay.nudge();
    await until("it was tried", () => attempts > before);
  }
  const took = performance.now() - started;
  t.ok(took < 6 * 1_150, `the shortest pause by then is 1.2 s, and these took ${took.toFixed(0)} ms`);
});

void t.test("one consumer that is away does not hold up the messages for others", async (t) => {
  const { database } = await freshDatabase(t, url);
  const events: string[] = [];
  relayOn(t, database, (subject, payloads) => {
    if (isAuditAppend(subject)) return Promise.reject(unavailable());
    events.push(...payloads.map(nameOf));
    return Promise.resolve();
  });
  for (let index = 0; index < 10; index += 1) {
    await database.transaction((tx) => enqueueAudit(tx, auditDraft()));
    await send(database, `${index}`);
  }
  await until("all events are there", () => events.length === 10);
  await until("delivered messages are deleted", async () => (await waiting(database)) === 10);
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
