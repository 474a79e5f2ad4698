import { rmSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { createDatabase, migrate } from "../../../postgres/src/index.ts";
import { startPostgres, temporaryDirectory, withoutDurability } from "@coffer/stores";
import { createTelemetry } from "@coffer/telemetry";
import pg from "pg";
import { outboxMigrations } from "../../../outbox/src/index.ts";
import { outboxRows } from "../../../outbox/src/rows.ts";

// Fills the outbox as after an outage and drains it beside light traffic: node src/outbox-backlog.ts [rows]

const count = Number(process.argv[2] ?? 1_000_000);
const schema = "bench_outbox";
const lane = "siem-forwarder";
const subject = "coffer.rpc.siem-forwarder.append";
const payload = JSON.stringify([{ id: randomUUID(), text: "x".repeat(560) }]);
const insert = "insert into outbox (lane, subject, id, payload) values ($1, $2, $3, $4)";
const rowsAtOnce = 1_000;
const print = (facts: object): boolean => process.stdout.write(`${JSON.stringify(facts)}\n`);

const directory = temporaryDirectory("coffer-outbox-");
const store = await startPostgres({
  directory,
  settings: { ...withoutDurability, shared_buffers: "128MB", max_wal_size: "2GB" },
});
try {
  await migrate({ url: store.url, schema, packages: { outbox: outboxMigrations } });
  const client = new pg.Client({ connectionString: store.url, options: `-c search_path=${schema}` });
  await client.connect();
  const telemetry = createTelemetry({ service: "auth-sm", level: "silent" });
  const database = createDatabase({ url: store.url, schema, telemetry });
  const connection = database.pipelinedConnection();
  const rows = outboxRows(connection, lane);

  const take = async (): Promise<number> => {
    const taken = await rows.take([subject], { limit: rowsAtOnce, from: 0 });
    await rows.finish({ delivered: taken.map(({ position }) => position), failed: [], divide: [] });
    return taken.length;
  };
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  const addOne = () => client.query(insert, [lane, subject, randomUUID(), payload]);
  /** 300 rows, each inserted, taken and deleted. */
  const sample = async (when: string): Promise<void> => {
    const [inserts, takes]: [number[], number[]] = [[], []];
    for (let n = 0; n < 300; n += 1) {
      inserts.push(await timed(addOne));
      takes.push(await timed(take));
    }
    print({ when, insert: spread(inserts), take: spread(takes), ...(await sizes()) });
  };
  const sizes = async () => {
    const { rows: found } = await client.query<Record<string, number>>(
      `select pg_table_size('outbox') / 1048576.0 as "tableMiB", pg_relation_size('outbox_pkey') / 1048576.0 as "indexMiB",
         n_live_tup::float8 as live, n_dead_tup::float8 as dead, autovacuum_count::int as vacuums
       from pg_stat_user_tables where relname = 'outbox'`,
    );
    const [first] = found;
    return Object.fromEntries(Object.entries(first ?? {}).map(([name, value]) => [name, Math.round(Number(value))]));
  };
  await sample("warm-up");
  await sample("before");
  const chunk = 250_000;
  const fillBegan = performance.now();
  for (let filled = 0; filled < count; filled += chunk)
    await client.query(
      `insert into outbox (lane, subject, id, payload)
       select $1, $2, gen_random_uuid(), $3 from generate_series(1, $4::int)`,
      [lane, subject, payload, Math.min(chunk, count - filled)],
    );
  print({ when: "filled", seconds: Math.round((performance.now() - fillBegan) / 1_000), ...(await sizes()) });
  const [inserts, takes]: [number[], number[]] = [[], []];
  const began = performance.now();
  let draining = true;
  const traffic = (async () => {
    while (draining) {
      inserts.push(await timed(addOne));
      await pause(50);
    }
  })();
  let drained = 0;
  let shownAt = performance.now();
  for (;;) {
    let taken = 0;
    takes.push(await timed(async () => (taken = await take())));
    drained += taken;
    if (performance.now() - shownAt > 30_000) {
      shownAt = performance.now();
      print({
        when: "draining",
        drained,
        perSecond: Math.round((drained * 1_000) / (shownAt - began)),
        ...(await sizes()),
      });
    }
    if (taken < rowsAtOnce / 2) break;
  }
  draining = false;
  await traffic;
  print({
    when: "drained",
    perSecond: Math.round((drained * 1_000) / (performance.now() - began)),
    insert: spread(inserts),
    take: spread(takes),
    ...(await sizes()),
  });
  await sample("just after");
  await pause(75_000);
  await sample("75 s after");
  const vacuum = await timed(() => client.query("vacuum outbox"));
  print({ when: "vacuum by hand", milliseconds: Math.round(vacuum), ...(await sizes()) });
  await pause(61_000);
  await sample("140 s after");
  await connection.close();
  await database.close();
  await client.end();
} finally {
  await store.stop();
  rmSync(directory, { recursive: true, force: true });
}

function spread(milliseconds: number[]): string {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} p99 ${at(0.99)} max ${(sorted.at(-1) ?? 0).toFixed(1)}`;
}
