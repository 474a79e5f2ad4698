import { ServiceError } from "@coffer/errors";
import { type AuditDraft, auditDraft as auditDraftShape } from "@coffer/events";
import { testPostgres, until } from "@coffer/testkit";
import t from "tap";
import { z } from "zod";
import { type Database, sql } from "@coffer/postgres";
import { createAuditLog } from "../src/index.ts";
import { relayOn, unavailable, waiting } from "./relaying.ts";
import { auditDraft, freshDatabase } from "../../postgres/test/support.ts";

const { url } = await testPostgres(t);

const leftRow = z.object({ payload: z.array(auditDraftShape), attempts: z.number(), created_at: z.string() });
const left = (database: Database) =>
  database.pool.any(sql.type(leftRow)`select payload, attempts, created_at from outbox order by position`);

const idsOf = (payloads: unknown[]) =>
  z
    .array(z.object({ id: z.string() }))
    .parse(payloads)
    .map(({ id }) => id);

/** Nine records in one row of the outbox, and which of them is at fault. */
async function nineInOneRow(database: Database, bad: AuditDraft): Promise<AuditDraft[]> {
  const audit = createAuditLog(database);
  const records = Array.from({ length: 9 }, (_, index) => (index === 4 ? bad : auditDraft()));
  await Promise.all(records.map((record) => audit(record)));
  t.equal(await waiting(database), 1);
  return records;
}

void t.test("of records that share a row only the refused one stays", async (t) => {
  const { database } = await freshDatabase(t, url);
  // Text that Postgres cannot store stands for a record that a consumer refuses.
  const bad = auditDraft({ actor: { type: "client", id: "a\0b" } });
  const records = await nineInOneRow(database, bad);
  const [before] = await left(database);
  const got: string[] = [];
  relayOn(t, database, (_, payloads) => {
    const ids = idsOf(payloads);
    if (ids.includes(bad.id)) return Promise.reject(new ServiceError("invalid_request", "belongs to no chain"));
    got.push(...ids);
    return Promise.resolve();
  });
  await until("the bad one is noted", async () => (await left(database))[0]?.attempts === 1);
  t.same(got, idsOf(records.filter((record) => record !== bad)), "the others, each once, in order");
  t.same(await left(database), [{ payload: [bad], attempts: 1, created_at: before?.created_at }]);
});

void t.test("of records that share a row only the one that its consumer does not answer stays", async (t) => {
  const { database } = await freshDatabase(t, url);
  const bad = auditDraft();
  const records = await nineInOneRow(database, bad);
  // The consumer counts as present only if others are delivered.
  const others = [auditDraft(), auditDraft(), auditDraft()];
  const audit = createAuditLog(database);
  for (const other of others) await audit(other);
  const got: string[] = [];
  relayOn(t, database, (_, payloads) => {
    const ids = idsOf(payloads);
    if (ids.includes(bad.id)) return Promise.reject(unavailable());
    got.push(...ids);
    return Promise.resolve();
  });
  await until("the bad one is noted", async () => (await left(database)).some(({ attempts }) => attempts === 1));
  await until("the others are there", async () => (await waiting(database)) === 1);
  t.same((await left(database))[0]?.payload, [bad]);
  const expected = [...records.filter((record) => record !== bad), ...others];
  t.same(got.toSorted(), idsOf(expected).sort(), "each once");
});

void t.test("a row of one record that is refused is not divided", async (t) => {
  const { database, log } = await freshDatabase(t, url);
  const bad = auditDraft();
  await createAuditLog(database)(bad);
  relayOn(t, database, () => Promise.reject(new ServiceError("invalid_request", "belongs to no chain")));
  await until("it is noted", async () => (await left(database))[0]?.attempts === 1);
  t.same(
    log.filter((line) => line.includes("several records")),
    [],
  );
});
