import { randomUUID } from "node:crypto";
import { firstPreviousHash, verifyAuditChain } from "@coffer/events";
import { createDatabase, migrate } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { readMigrations } from "../../../../packages/postgres/src/migrations.ts";
import { appendAudit } from "../../src/audit/append.ts";
import { listByPartitions } from "../../src/audit/list-by-partitions.ts";
import { migrations, schema } from "../../src/migrate.ts";
import { findHead } from "../../src/store/chains.ts";
import { addPartition } from "../../src/store/partitions.ts";
import { draftOf } from "../delivery/draft.ts";

// An installation with records is migrated while the former version appends.

const { url } = await testPostgres(t);
const names = (await readMigrations(migrations)).map(({ name }) => name);
const isFormer = (name: string): boolean => name.startsWith("outbox/") || name < "0006";
const apply = (only: readonly string[]) => migrate({ url, schema, ...migrations, only: new Set(only) });
await apply(names.filter(isFormer));
const telemetry = createTelemetry({ service: "siem-forwarder", level: "silent" });
const database = createDatabase({ url, schema, telemetry });
t.teardown(() => database.close());
const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
await client.connect();
t.teardown(() => client.end());

const days = (number: number): string => new Date(Date.now() + number * 86_400_000).toISOString();
const chainIds = [randomUUID(), randomUUID()];
const drafts = chainIds.flatMap((chainId) =>
  [-400, -40, 0, -39, 0, 70].map((ago) => draftOf(chainId, { time: days(ago) })),
);
const append = async (records = drafts): Promise<number> => (await appendAudit({ database }, { records })).stored;

await t.test("every record is kept, and records come between the migrations", async (t) => {
  await append();
  const [late] = chainIds;
  for (const name of names.filter((each) => !isFormer(each))) {
    await apply([...names.filter((each) => each < name), name]);
    t.equal(await append(), 0, `after ${name}`);
    const more = [0, -40, 1].map((ago) => draftOf(late ?? "", { time: days(ago) }));
    t.equal(await append(more), 3);
    drafts.push(...more);
  }
  for (const chainId of chainIds) {
    const expected = drafts.filter((draft) => draft.org_id === chainId);
    const head = await findHead(database.pool, chainId);
    t.equal(head?.seq, expected.length);
    const span = { first: 1, last: expected.length };
    for (const filter of [{}, { outcome: "success" as const }]) {
      const found = await listByPartitions(database.pool, { chainId, span, order: "asc", limit: 1_000, ...filter });
      const records = found.map(({ record }) => record);
      t.same(
        records.map(({ id }) => id),
        expected.map(({ id }) => id),
      );
      t.same(verifyAuditChain({ seq: 0, hash: firstPreviousHash }, records), head);
    }
  }
});

await t.test("the old table is the partition of everything before, and later months have their own", async (t) => {
  const time = days(120);
  while (await addPartition(database.pool, time));
  const later = draftOf(chainIds[0] ?? "", { time });
  t.equal(await append([later]), 1);
  const { rows } = await client.query<{ name: string; count: number }>(
    "SELECT tableoid::regclass::text AS name, count(*)::int AS count FROM audit_records GROUP BY 1 ORDER BY 2 DESC",
  );
  t.same(rows, [
    { name: "audit_records_before", count: drafts.length },
    { name: `audit_records_${time.slice(0, 7).replace("-", "_")}`, count: 1 },
  ]);
});

await t.test("the places of each partition are known", async (t) => {
  const stored = await client.query(
    `SELECT chain_id, audit_partition_start(time)::text AS start, min(seq)::int AS first, max(seq)::int AS last
     FROM audit_records GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  const known = await client.query(
    `SELECT chain_id, from_time::text AS start, first_seq::int AS first, last_seq::int AS last
     FROM audit_partitions ORDER BY 1, 2`,
  );
  t.same(known.rows, stored.rows);
});
