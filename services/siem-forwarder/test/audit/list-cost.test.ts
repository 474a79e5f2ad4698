import { randomUUID } from "node:crypto";
import { createDatabase, sql } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { z } from "zod";
import { listByPartitions } from "../../src/audit/list-by-partitions.ts";
import { migrateService, schema } from "../../src/migrate.ts";
import type { RecordFilter } from "../../src/store/records.ts";

const { url } = await testPostgres(t);
await migrateService({ url });
const telemetry = createTelemetry({ service: "siem-forwarder", level: "silent" });
const database = createDatabase({ url, schema, telemetry });
t.teardown(() => database.close());

const count = 20_000;
const limit = 10;
/**
 * Each of the 11 rows is found in an index of three pages' depth and read; each group costs a few
 * pages. Once, Postgres plans a statement for any partition.
 */
const mostPages = 120;
const [chainId, busy] = [randomUUID(), randomUUID()];

const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
await client.connect();
t.teardown(() => client.end());
await client.query(
  `INSERT INTO audit_records (chain_id, seq, id, time, action, outcome, actor_id, record)
   SELECT $1, n, gen_random_uuid(), now(), CASE WHEN n % 10 < 2 THEN 'secret.updated' ELSE 'secret.read' END,
     CASE WHEN n % 100 = 7 THEN 'success' ELSE 'denied' END, CASE WHEN n % 10 >= 2 THEN $2 ELSE n::text END, '{}'
   FROM generate_series(1, $3::int) AS n`,
  [chainId, busy, count],
);
await client.query(
  `INSERT INTO audit_hours (chain_id, hour, first_seq, last_seq)
   SELECT chain_id, date_trunc('hour', time), min(seq), max(seq) FROM audit_records GROUP BY 1, 2`,
);
await client.query("VACUUM ANALYZE audit_records");

/** How many pages of the table and its indexes a list reads, and how many records it finds. */
const costOf = (filter: Partial<RecordFilter>): Promise<{ pages: number; found: number }> =>
  database.transaction(async (tx) => {
    const read = () =>
      tx.oneFirst(sql.type(z.object({ pages: z.number() }))`
        SELECT sum(pg_stat_get_xact_blocks_fetched(oid))::int AS pages FROM pg_class
        WHERE relnamespace = ${schema}::regnamespace AND relname LIKE 'audit_records%'
      `);
    const before = await read();
    const span = { first: 1, last: count };
    const { length: found } = await listByPartitions(tx, { chainId, span, order: "asc", limit: limit + 1, ...filter });
    return { pages: (await read()) - before, found };
  });

await t.test("a page reads a few pages of the store, however many records its filter passes over", async (t) => {
  const actions = [undefined, "secret.read", "secret.updated", "vault.deleted"] as const;
  const outcomes = [undefined, "success", "denied", "failure"] as const;
  let selected = 0;
  for (const action of actions)
    for (const outcome of outcomes)
      for (const actorId of [undefined, busy, randomUUID()])
        for (const order of ["asc", "desc"] as const) {
          const filter = { action, outcome, actorId, order };
          const { pages, found } = await costOf(filter);
          t.ok(pages > 0 && pages <= mostPages, `${pages} pages: ${JSON.stringify(filter)}`);
          if (found === limit + 1) selected += 1;
        }
  t.ok(selected > 20, `${selected} lists have a page and one record more`);
});
