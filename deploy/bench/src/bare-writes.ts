import pg from "pg";
import type { QueryConfig } from "pg";

/**
 * Transactions of bare `pg`, each of one statement and the row of an audit record, by so many connections at once.
 * Returns transactions per second.
 */
export async function bareWrites(
  {
    postgresUrl,
    schema,
    connections,
    seconds,
  }: {
    postgresUrl: string;
    schema: string;
    connections: number;
    seconds: number;
  },
  statement: (n: number) => QueryConfig,
): Promise<number> {
  const options = `-c search_path=${schema},public`;
  const pool = new pg.Pool({ connectionString: postgresUrl, options, max: connections });
  try {
    await pool.query("CREATE TABLE IF NOT EXISTS bench_insert (id bigserial PRIMARY KEY, payload text NOT NULL)");
    let done = 0;
    const started = performance.now();
    const end = started + seconds * 1000;
    const writer = async (): Promise<void> => {
      const client = await pool.connect();
      while (performance.now() < end) {
        await client.query("BEGIN");
        await client.query(statement(done));
        await client.query({
          name: "audit",
          text: "INSERT INTO bench_insert (payload) VALUES ($1)",
          values: ["x".repeat(600)],
        });
        await client.query("COMMIT");
        done += 1;
      }
      client.release();
    };
    await Promise.all(Array.from({ length: connections }, writer));
    return done / ((performance.now() - started) / 1000);
  } finally {
    await pool.query("DROP TABLE IF EXISTS bench_insert");
    await pool.end();
  }
}
