import { randomUUID } from "node:crypto";
import { type AuditDraft, type AuditRecord, firstPreviousHash, verifyAuditChain } from "@coffer/events";
import { createDatabase, isUnavailable, sql, type Transaction } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { z } from "zod";
import { appendAudit } from "../../src/audit/append.ts";
import { partitionSweep } from "../../src/audit/keep-partitions.ts";
import { listByPartitions } from "../../src/audit/list-by-partitions.ts";
import { migrateService, schema } from "../../src/migrate.ts";
import { createDeliveryStore } from "../../src/store/deliveries.ts";
import { findHead } from "../../src/store/chains.ts";
import { addPartition, findPartitionsEnd } from "../../src/store/partitions.ts";
import type { RecordFilter } from "../../src/store/records.ts";
import { draftOf } from "../delivery/draft.ts";

const { url } = await testPostgres(t);
await migrateService({ url });
const telemetry = createTelemetry({ service: "siem-forwarder", level: "silent" });
const open = () => createDatabase({ url, schema, telemetry });
const database = open();
t.teardown(() => database.close());
const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
await client.connect();
t.teardown(() => client.end());

const { rows: firstMonth } = await client.query<{ at: Date }>("SELECT audit_before() AS at");
/** The start of a month, counted from the first one that has a partition; `milliseconds` later. */
function month(number: number, milliseconds = 0): string {
  const first = firstMonth[0]?.at ?? new Date(0);
  return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + number) + milliseconds).toISOString();
}
const nameOf = (number: number): string => `audit_records_${month(number).slice(0, 7).replace("-", "_")}`;
const postgresTime = (time: string): string => time.replace(/Z$/, "000Z");

const append = async (records: AuditDraft[]): Promise<number> => (await appendAudit({ database }, { records })).stored;
const sweep = async (now: string): Promise<void> => {
  const { batch } = partitionSweep({ database, now: () => new Date(now) });
  while (await batch());
};

/** All records of a chain, page by page. */
async function listAll(chainId: string, filter: Partial<RecordFilter> = {}): Promise<AuditRecord[]> {
  const order = filter.order ?? "asc";
  let span = { first: 1, last: (await findHead(database.pool, chainId))?.seq ?? 0 };
  const found: AuditRecord[] = [];
  for (;;) {
    const page = await listByPartitions(database.pool, { limit: 3, ...filter, chainId, order, span });
    found.push(...page.map(({ record }) => record));
    const last = page.at(-1)?.seq;
    if (last === undefined) return found;
    span = order === "asc" ? { ...span, first: last + 1 } : { ...span, last: last - 1 };
  }
}

/** In which partition each record of a chain is, in the order of the chain. */
async function partitionsOf(chainId: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT tableoid::regclass::text AS name FROM audit_records WHERE chain_id = $1 ORDER BY seq",
    [chainId],
  );
  return rows.map(({ name }) => name);
}

const isWhole = async (chainId: string) =>
  verifyAuditChain({ seq: 0, hash: firstPreviousHash }, await listAll(chainId));

await t.test("the partitions of this month and the next three exist, to the midnight of a month's end", async (t) => {
  t.equal(await findPartitionsEnd(database.pool), postgresTime(month(4)), "made by the migration");
  await sweep(month(1, -1));
  t.equal(await findPartitionsEnd(database.pool), postgresTime(month(4)));
  await sweep(month(1));
  t.equal(await findPartitionsEnd(database.pool), postgresTime(month(5)));
  await sweep(month(1));
  t.equal(await findPartitionsEnd(database.pool), postgresTime(month(5)));
});

await t.test("records at a month's end are in their months, and sent again are stored once", async (t) => {
  const chainId = randomUUID();
  const times = [`${month(1, -1).slice(0, -1)}999Z`, month(1), month(0), month(2, -1)];
  const drafts = times.map((time) => draftOf(chainId, { time }));
  t.equal(await append(drafts.slice(0, 3)), 3);
  t.equal(await append(drafts), 1, "one is new");
  for (const draft of drafts) t.equal(await append([draft]), 0);
  t.equal(await append(drafts.map((draft) => ({ ...draft, id: draft.id.toUpperCase() }))), 0);
  t.same(await partitionsOf(chainId), [nameOf(0), nameOf(1), nameOf(0), nameOf(1)]);
  t.match(await isWhole(chainId), { seq: 4 });
});

await t.test("a record of any time is stored once: of long ago, of the future, of the last year", async (t) => {
  const chainId = randomUUID();
  const times = ["0001-01-01T00:00:00Z", month(-1), month(0), month(9), "9999-12-31T23:59:59.999999Z"];
  const drafts = times.map((time) => draftOf(chainId, { time }));
  t.equal(await append(drafts), 5);
  t.equal(await append(drafts), 0);
  const [before, after] = ["audit_records_before", "audit_records_default"];
  t.same(await partitionsOf(chainId), [before, before, nameOf(0), after, after]);
  t.match(await isWhole(chainId), { seq: 5 });
  t.same(
    (await listAll(chainId, { from: month(9), outcome: "success" })).map(({ seq }) => seq),
    [4, 5],
  );
});

await t.test("a month whose records are in the default partition gets them", async (t) => {
  const chainId = randomUUID();
  const drafts = [month(6, -1), month(6), month(7, -1), month(7)].map((time) => draftOf(chainId, { time }));
  await append(drafts);
  t.same(new Set(await partitionsOf(chainId)), new Set(["audit_records_default"]));
  const listed = await listAll(chainId);
  await sweep(month(3));
  t.same(await partitionsOf(chainId), [nameOf(5), nameOf(6), nameOf(6), "audit_records_default"]);
  t.same(await listAll(chainId), listed);
  t.equal(await append(drafts), 0);
});

await t.test("a partition is not made while a long read holds the default one, and is made later", async (t) => {
  const end = await findPartitionsEnd(database.pool);
  await client.query("BEGIN; SELECT FROM audit_records_default");
  await t.rejects(addPartition(database.pool, end), { code: "unavailable", cause: { code: "55P03" } });
  t.equal(await append([draftOf(randomUUID(), { time: month(30) })]), 1, "records are stored meanwhile");
  await client.query("COMMIT");
  t.equal(await addPartition(database.pool, end), true);
});

await t.test("several replicas at once make each partition once, while records come", async (t) => {
  const replicas = [1, 2, 3].map(open);
  t.teardown(() => Promise.all(replicas.map((each) => each.close())));
  const chainId = randomUUID();
  const make = async (each: (typeof replicas)[number]): Promise<number> => {
    for (let made = 0; ;)
      try {
        if (!(await addPartition(each.pool, month(14)))) return made;
        made += 1;
      } catch (error) {
        // On a busy machine a transaction holds the default partition for longer than a second.
        if (!isUnavailable(error)) throw error;
      }
  };
  const { rows: before } = await client.query("SELECT FROM pg_inherits WHERE inhparent = 'audit_records'::regclass");
  const appending = (async () => {
    for (let n = 0; n < 15; n += 1) await append([draftOf(chainId, { time: month(n) })]);
  })();
  const made = await Promise.all(replicas.map(make));
  await appending;
  const { rows: after } = await client.query("SELECT FROM pg_inherits WHERE inhparent = 'audit_records'::regclass");
  t.equal(
    made.reduce((sum, each) => sum + each, 0),
    after.length - before.length,
  );
  t.equal(await findPartitionsEnd(database.pool), postgresTime(month(15)));
  t.same(
    await partitionsOf(chainId),
    Array.from({ length: 15 }, (_, n) => nameOf(n)),
  );
  t.match(await isWhole(chainId), { seq: 15 });
});

await t.test("lists over borders have the same records, with each filter, time and order", async (t) => {
  const chainId = randomUUID();
  // Months in order, and every fifth record late, by one month or by five.
  const drafts = Array.from({ length: 60 }, (_, n) =>
    draftOf(chainId, {
      time: month(Math.max(-1, Math.floor(n / 10) - (n % 5 === 4 ? 1 + (n % 2) * 4 : 0)), n * 1_000),
      action: n % 3 === 0 ? "secret.read" : "secret.updated",
      outcome: n % 7 === 0 ? "denied" : "success",
      actor: { type: "client", id: `client-${n % 4}` },
    }),
  );
  for (let at = 0; at < drafts.length; at += 6) await append(drafts.slice(at, at + 6));
  t.match(await isWhole(chainId), { seq: 60 });
  const ranges = [{}, { from: month(1) }, { to: month(2, 20_000) }, { from: month(1, 12_000), to: month(3) }];
  for (const action of [undefined, "secret.read", "vault.deleted"] as const)
    for (const outcome of [undefined, "denied"] as const)
      for (const actorId of [undefined, "client-1"])
        for (const { from, to } of ranges as { from?: string; to?: string }[])
          for (const order of ["asc", "desc"] as const) {
            const expected = drafts.flatMap((draft, at) =>
              (action ?? draft.action) === draft.action &&
              (outcome ?? draft.outcome) === draft.outcome &&
              (actorId ?? draft.actor.id) === draft.actor.id &&
              (from === undefined || draft.time >= from) &&
              (to === undefined || draft.time < to)
                ? [at + 1]
                : [],
            );
            const filter = { action, outcome, actorId, from, to, order, limit: 7 };
            const found = (await listAll(chainId, filter)).map(({ seq }) => seq);
            t.same(found, order === "asc" ? expected : expected.toReversed(), JSON.stringify(filter));
          }
});

/** How many blocks of each partition and its indexes the transaction has read. */
async function blocksOf(tx: Transaction): Promise<Map<string, number>> {
  const rows = await tx.any(sql.type(z.object({ name: z.string(), blocks: z.number() }))`
    SELECT child.inhrelid::regclass::text AS name, (pg_stat_get_xact_blocks_fetched(child.inhrelid)
      + sum(pg_stat_get_xact_blocks_fetched(i.indexrelid)))::int AS blocks
    FROM pg_inherits child JOIN pg_index i ON i.indrelid = child.inhrelid
    WHERE child.inhparent = 'audit_records'::regclass GROUP BY child.inhrelid ORDER BY 1
  `);
  return new Map(rows.map(({ name, blocks }) => [name, blocks]));
}

await t.test("a page reads the partitions of its records alone", async (t) => {
  const chainId = randomUUID();
  for (let n = 0; n < 12; n += 1)
    await append(Array.from({ length: 5 }, (_, at) => draftOf(chainId, { time: month(n, at) })));
  const span = { first: 1, last: 60 };
  const read = (filter: Partial<RecordFilter>) =>
    database.transaction(async (tx) => {
      const before = await blocksOf(tx);
      await listByPartitions(tx, { chainId, span, order: "asc", limit: 5, ...filter });
      const after = await blocksOf(tx);
      return [...after].flatMap(([name, blocks]) => (blocks > (before.get(name) ?? 0) ? [name] : []));
    });
  t.same(await read({}), [nameOf(0)]);
  t.same(await read({ order: "desc" }), [nameOf(11)]);
  t.same(await read({ span: { first: 13, last: 60 } }), [nameOf(2), nameOf(3), nameOf(4)]);
  t.same(await read({ outcome: "success", order: "desc" }), [nameOf(11)]);
  t.same(await read({ from: month(7), to: month(8) }), [nameOf(7)]);
  t.equal((await read({ outcome: "denied" })).length, 12);
});

await t.test("records behind removed ones are listed", async (t) => {
  const chainId = randomUUID();
  await append(Array.from({ length: 20 }, (_, n) => draftOf(chainId, { time: month(n % 3, n) })));
  await client.query("DELETE FROM audit_records WHERE chain_id = $1 AND seq BETWEEN 3 AND 9", [chainId]);
  t.same(
    (await listAll(chainId)).map(({ seq }) => seq),
    [1, 2, ...Array.from({ length: 11 }, (_, n) => n + 10)],
  );
  t.same(await isWhole(chainId), { seq: 3, problem: "missing" });
});

await t.test("a delivery continues with late records in the order of the chain", async (t) => {
  const chainId = randomUUID();
  const times = [month(3), month(4), month(0), month(-1), month(5), month(4)];
  await append(times.map((time) => draftOf(chainId, { time })));
  const store = createDeliveryStore(database);
  const limits = { limit: 500, bytes: 1_000_000 };
  for (let after = 0; after <= 6; after += 1)
    t.same(
      (await store.backlog({ id: randomUUID(), org_id: chainId }, after, limits)).map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6].slice(after),
    );
});
