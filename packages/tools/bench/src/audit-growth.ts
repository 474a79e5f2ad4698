import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { createDatabase, type Database, migrate } from "../../../postgres/src/index.ts";
import { startPostgres, temporaryDirectory, withoutDurability } from "@coffer/stores";
import { createTelemetry } from "@coffer/telemetry";
import pg from "pg";
import { readMigrations } from "../../../postgres/src/migrations.ts";
import { listByPartitions } from "../../../../services/siem-forwarder/src/audit/list-by-partitions.ts";
import { migrations } from "../../../../services/siem-forwarder/src/migrate.ts";
import { listRecords, type RecordFilter } from "../../../../services/siem-forwarder/src/store/records.ts";

// The audit as one table and in monthly partitions, growing by 400,000 records a month; at last the
// one table is migrated: node packages/tools/bench/src/audit-growth.ts [records…]

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000_000, 3_000_000, 10_000_000];
const perMonth = 400_000;
const chains = 50;
const perBatch = 200;
const batches = 50;
const print = (facts: object): boolean => process.stdout.write(`${JSON.stringify(facts)}\n`);

const directory = temporaryDirectory("coffer-audit-");
const settings = { ...withoutDurability, shared_buffers: "128MB", max_wal_size: "4GB", autovacuum: "off" };
const store = await startPostgres({ directory, settings });
const telemetry = createTelemetry({ service: "siem-forwarder", level: "silent" });
const chainIds = Array.from({ length: chains }, () => randomUUID());
const start = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth()));
const secondsEach = (30.4 * 86_400) / perMonth;
const timeOf = (n: number): string => new Date(start.getTime() + n * secondsEach * 1_000).toISOString();

interface Form {
  schema: "plain" | "partitioned";
  client: pg.Client;
  database: Database;
  filled: number;
}

async function open(schema: Form["schema"], only?: ReadonlySet<string>): Promise<Form> {
  await migrate({ url: store.url, schema, only, ...migrations });
  const client = new pg.Client({ connectionString: store.url, options: `-c search_path=${schema}` });
  // Each statement reports its own failure.
  client.on("error", () => undefined);
  await client.connect();
  return { schema, client, database: createDatabase({ url: store.url, schema, telemetry }), filled: 0 };
}

/** The record number n is number n / 50 of the chain n % 50. */
const insert = `
  INSERT INTO audit_records (chain_id, seq, id, time, action, outcome, actor_id, record)
  SELECT ($1::uuid[])[n % ${chains} + 1], n / ${chains} + 1, gen_random_uuid(),
    $4::timestamptz + n * interval '${secondsEach} seconds',
    CASE WHEN n / ${chains} % 10000 = 77 THEN 'vault.deleted' WHEN n / ${chains} % 10 < 3 THEN 'secret.updated' ELSE 'secret.read' END,
    CASE WHEN n / ${chains} % 1000 = 7 THEN 'denied' ELSE 'success' END, 'client-' || n / ${chains} % 1000,
    json_build_object('n', n, 'text', repeat('x', 300))
  FROM generate_series($2::int, $3::int) AS n`;

/**
 * The indexes of the one table that an insert touches all over. A fill drops them and makes them
 * again, with pages as full as those of an index that has grown: kept, they take it an hour.
 */
const scattered = {
  drop: [
    "ALTER TABLE audit_records DROP CONSTRAINT audit_records_id_key",
    "DROP INDEX audit_records_groups",
    "DROP INDEX audit_records_actor_groups",
  ],
  create: [
    "SET maintenance_work_mem = '1GB'",
    "ALTER TABLE audit_records ADD CONSTRAINT audit_records_id_key UNIQUE (id) WITH (fillfactor = 70)",
    "CREATE INDEX audit_records_groups ON audit_records (chain_id, action, outcome, seq) WITH (fillfactor = 70)",
    `CREATE INDEX audit_records_actor_groups ON audit_records (chain_id, actor_id, action, outcome, seq)
       WITH (fillfactor = 70)`,
  ],
};

async function fill({ client, schema, filled }: Form, to: number): Promise<void> {
  if (schema === "plain") for (const statement of scattered.drop) await client.query(statement);
  if (schema === "partitioned") {
    const until = timeOf(to + 2 * perMonth);
    while ((await client.query<{ added: boolean }>("SELECT add_audit_partition($1) AS added", [until])).rows[0]?.added);
  }
  for (let from = filled; from < to; from += 250_000)
    await client.query(insert, [chainIds, from, Math.min(to, from + 250_000) - 1, start]);
  if (schema === "plain") for (const statement of scattered.create) await client.query(statement);
  await client.query(
    `INSERT INTO audit_hours (chain_id, hour, first_seq, last_seq)
     SELECT chain, hour, min(n / ${chains} + 1), max(n / ${chains} + 1) FROM (
       SELECT n, ($1::uuid[])[n % ${chains} + 1] AS chain,
         date_trunc('hour', $4::timestamptz + n * interval '${secondsEach} seconds') AS hour
       FROM generate_series($2::int, $3::int) AS n
     ) AS made GROUP BY 1, 2
     ON CONFLICT (chain_id, hour) DO UPDATE SET last_seq = excluded.last_seq`,
    [chainIds, filled, to - 1, start],
  );
  await client.query(
    `INSERT INTO audit_chains (id, seq, hash) SELECT id, $2::int, '' FROM unnest($1::uuid[]) AS id
     ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`,
    [chainIds, to / chains],
  );
  await client.query("VACUUM ANALYZE audit_records, audit_hours");
}

/** Batches at the end: a look-up of their ids, and their insert, as the service does both. */
async function append(form: Form): Promise<{ milliseconds: number; walKiB: number; readBlocks: number }> {
  const { client, schema } = form;
  const took: number[] = [];
  let [wal, read] = [0, 0];
  for (let batch = 0; batch < batches; batch += 1) {
    const first = form.filled;
    const last = (form.filled += perBatch) - 1;
    const ids = Array.from({ length: perBatch }, () => randomUUID());
    const began = performance.now();
    if (schema === "plain") await client.query("SELECT id FROM audit_records WHERE id = ANY ($1)", [ids]);
    else
      await client.query("SELECT id FROM audit_records WHERE id = ANY ($1) AND time >= $2 AND time <= $3", [
        ids,
        timeOf(first),
        timeOf(last + 1),
      ]);
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING OFF, FORMAT JSON) ${insert}`,
      [chainIds, first, last, start],
    );
    took.push(performance.now() - began);
    const plan = rows[0]?.["QUERY PLAN"][0].Plan;
    wal += plan?.["WAL Bytes"] ?? 0;
    read += plan?.["Shared Read Blocks"] ?? 0;
  }
  return { milliseconds: least(took), walKiB: wal / batches / 1024, readBlocks: read / batches };
}

async function pages({ database, schema, filled }: Form): Promise<object> {
  const [chainId = ""] = chainIds;
  const last = Math.floor(filled / chains) - 1;
  const all: RecordFilter = { chainId, span: { first: 1, last }, order: "asc", limit: 101 };
  const filters: Record<string, RecordFilter> = {
    first: all,
    last: { ...all, order: "desc" },
    middle: { ...all, span: { first: Math.floor(last / 2), last } },
    rare: { ...all, action: "vault.deleted" },
    denied: { ...all, outcome: "denied", order: "desc" },
    actor: { ...all, actorId: "client-500", order: "desc" },
  };
  const found: Record<string, number> = {};
  for (const [name, filter] of Object.entries(filters)) {
    const took: number[] = [];
    for (let time = 0; time < 25; time += 1) {
      const began = performance.now();
      await (schema === "plain" ? listRecords : listByPartitions)(database.pool, filter);
      took.push(performance.now() - began);
    }
    found[name] = rounded(least(took));
  }
  return found;
}

async function measure(form: Form): Promise<void> {
  const { client, schema } = form;
  await client.query("CHECKPOINT");
  const appended = await append(form);
  const table = schema === "plain" ? "audit_records" : await newestPartition(client, timeOf(form.filled));
  const { rows } = await client.query<{ indexes: number; table: number }>(
    "SELECT pg_indexes_size($1)::float8 AS indexes, pg_table_size($1)::float8 AS table",
    [table],
  );
  // Dead rows, as after an insert that was rolled back: vacuum looks at each index.
  await client.query("BEGIN");
  await client.query(insert, [chainIds, form.filled, form.filled + 1_999, start]);
  await client.query("ROLLBACK");
  const began = performance.now();
  await client.query(`VACUUM ${table}`);
  const vacuumMilliseconds = performance.now() - began;
  print({
    schema,
    records: form.filled,
    batchMilliseconds: rounded(appended.milliseconds),
    walKiB: rounded(appended.walKiB),
    readBlocks: rounded(appended.readBlocks),
    table,
    indexMiB: rounded((rows[0]?.indexes ?? 0) / 1048576),
    tableMiB: rounded((rows[0]?.table ?? 0) / 1048576),
    vacuumMilliseconds: rounded(vacuumMilliseconds),
    pages: await pages(form),
  });
}

async function newestPartition(client: pg.Client, time: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT tableoid::regclass::text AS name FROM audit_records WHERE time < $1 ORDER BY time DESC LIMIT 1",
    [time],
  );
  return rows[0]?.name ?? "";
}

/** Each migration, and how long the slowest insert beside it took. */
async function migrateBesideWrites({ client, filled }: Form): Promise<void> {
  // A stored time: a later one than all others would be refused for a while.
  const origin = new Date(start.getTime() - filled * secondsEach * 1_000);
  for (const name of all.filter((each) => !former.has(each))) {
    let migrating = true;
    const waits: number[] = [];
    const writing = (async () => {
      while (migrating) {
        const began = performance.now();
        await client.query(insert, [chainIds, filled, filled, origin]);
        filled += 1;
        waits.push(performance.now() - began);
        await pause(5);
      }
    })();
    const began = performance.now();
    await migrate({ url: store.url, schema: "plain", only: new Set([...former, name]), ...migrations });
    const milliseconds = performance.now() - began;
    migrating = false;
    await writing;
    print({ migration: name, milliseconds: rounded(milliseconds), slowestInsert: rounded(Math.max(...waits)) });
    former.add(name);
  }
}

const all = (await readMigrations(migrations)).map(({ name }) => name);
const former = new Set(all.filter((name) => name.startsWith("outbox/") || name < "0006"));
try {
  const forms = [await open("plain", former), await open("partitioned")];
  for (const size of sizes)
    for (const form of forms) {
      const began = performance.now();
      await fill(form, size);
      form.filled = Math.max(form.filled, size);
      print({ schema: form.schema, filledTo: size, seconds: rounded((performance.now() - began) / 1_000) });
      await measure(form);
    }
  const [plain] = forms;
  if (plain !== undefined) await migrateBesideWrites(plain);
  for (const { client, database } of forms) {
    await client.end();
    await database.close();
  }
} finally {
  await store.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** Other programs can only make a measurement longer. */
function least(values: readonly number[]): number {
  return Math.min(...values);
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
