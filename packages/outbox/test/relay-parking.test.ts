import { randomUUID } from "node:crypto";
import t from "tap";
import { ServiceError } from "@coffer/errors";
import { testPostgres, until } from "@coffer/testkit";
import { z } from "zod";
import { type Database, sql } from "@coffer/postgres";
import { emptied, nameOf, relayOn, send, unavailable, waiting } from "./relaying.ts";
import { freshDatabase } from "../../postgres/test/support.ts";

const { url } = await testPostgres(t);

/** Makes the next attempt due. */
const due = (database: Database) => database.pool.query(sql.typeAlias("void")`update outbox set not_before = null`);

void t.test("a message that is refused is parked, and none of the others waits for it", async (t) => {
  const { database, log, telemetry } = await freshDatabase(t, url);
  const got: string[] = [];
  let refusals = 0;
  let refusedAt = 0;
  relayOn(t, database, (_, payloads) => {
    const names = payloads.map(nameOf);
    if (names.includes("poison")) {
      refusals += 1;
      refusedAt = Date.now();
      return Promise.reject(new ServiceError("invalid_request", "not understood"));
    }
    got.push(...names);
    return Promise.resolve();
  });
  const others = Array.from({ length: 20 }, (_, index) => `${index}`);
  await send(database, ...others.slice(0, 13), "poison", ...others.slice(13));
  await until("the others are there", () => got.length === 20);
  t.same(got, others, "each once, in order");
  const row = z.object({ attempts: z.number(), problem: z.string().nullable(), due: z.number().nullable() });
  const left = () =>
    database.pool.any(sql.type(row)`
      select attempts, problem, (extract(epoch from not_before) * 1000)::float as due from outbox`);
  for (const [index, seconds] of [1, 5, 30, 120, 3600].entries()) {
    if (index > 0) await due(database);
    await until("it was tried again", async () => (await left())[0]?.attempts === index + 1);
    const [only] = await left();
    t.equal(only?.problem, "invalid_request: not understood");
    // It was postponed between the refusal and this one.
    const most = Date.now() - refusedAt;
    const late = (only?.due ?? 0) - refusedAt - seconds * 1000;
    t.ok(late >= -5 && late <= most + 5, `after ${seconds} s, put off within ${most} ms`);
  }
  await until("it is said", () => log.some((line) => line.includes("a message is parked")));
  t.equal(log.filter((line) => line.includes("a message is parked")).length, 1);
  t.match(await telemetry.metrics.registry.metrics(), /coffer_outbox_parked\{service="auth-sm"\} 1/);
  t.match(await telemetry.metrics.registry.metrics(), /coffer_outbox_oldest_age_seconds\{service="auth-sm"\} 0$/m);
  const before = refusals;
  await send(database, "later");
  await until("a later message is delivered", () => got.includes("later"));
  t.equal(refusals, before, "a parked message is left in peace");
});

void t.test("a parked message is delivered after its hour, once it is understood", async (t) => {
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

void t.test("a message that its consumer does not answer is found and parked too", async (t) => {
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

void t.test("a consumer that fails every message parks none", async (t) => {
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

void t.test("rows of a subject that this version does not know are left for one that does", async (t) => {
  const { database } = await freshDatabase(t, url);
  await send(database, "known");
  await database.pool.query(sql.typeAlias("void")`
    insert into outbox (lane, id, subject, payload)
    values ('event', ${randomUUID()}, 'coffer.evt.newer.thing', '{}'), ('newer', ${randomUUID()}, 'coffer.rpc.newer.request', '{}')`);
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
