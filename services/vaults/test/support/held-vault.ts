import pg from "pg";
import { until } from "@coffer/testkit";
import type { TestVaults } from "./service.ts";

/** Runs one statement as the database's owner, for state that no endpoint shows. */
export async function execute<Row extends pg.QueryResultRow>(
  { postgres }: Pick<TestVaults, "postgres">,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Locks rows as `lock` selects them, begins the requests, and runs `meanwhile` once `count` sessions
 * wait for the lock. Then it releases the lock. Returns the responses.
 */
export async function whileHolding<Answer>(
  { postgres }: Pick<TestVaults, "postgres">,
  lock: { text: string; values: unknown[]; waiting: number },
  requests: (() => Promise<Answer>)[],
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Answer[]> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await client.query("BEGIN; SET LOCAL search_path = vaults");
    await client.query(lock.text, lock.values);
    const answers = Promise.all(requests.map((request) => request()));
    await until("they wait", async () => {
      // Otherwise a transaction sees the sessions of its first read only, without later ones.
      await client.query("SELECT pg_stat_clear_snapshot()");
      const { rows } = await client.query<{ waiting: number }>(
        `SELECT count(*)::integer AS waiting FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return (rows[0]?.waiting ?? 0) >= lock.waiting;
    });
    await meanwhile();
    await client.query("COMMIT");
    return await answers;
  } finally {
    await client.end();
  }
}

/**
 * Lets each statement that writes a record wait, after its begin and before it locks its vault, for the
 * holder of the advisory lock 4711. Returns a function that ends it.
 */
export async function stopWritersBeforeTheirLock(
  service: Pick<TestVaults, "postgres">,
): Promise<() => Promise<unknown>> {
  await execute(
    service,
    `BEGIN;
     ALTER TABLE vaults.vaults RENAME TO vaults_behind;
     CREATE FUNCTION vaults.wait_if_writing() RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
       BEGIN
         IF current_query() LIKE '%held AS MATERIALIZED%' THEN
           PERFORM pg_advisory_xact_lock_shared(4711);
         END IF;
         RETURN true;
       END $$;
     CREATE VIEW vaults.vaults AS SELECT * FROM vaults.vaults_behind WHERE vaults.wait_if_writing();
     COMMIT`,
  );
  return () =>
    execute(
      service,
      `BEGIN;
       DROP VIEW vaults.vaults;
       DROP FUNCTION vaults.wait_if_writing();
       ALTER TABLE vaults.vaults_behind RENAME TO vaults;
       COMMIT`,
    );
}
