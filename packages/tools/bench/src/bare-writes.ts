import pg, { type QueryConfig } from "pg";

/**
 * Transactions of bare `pg`, each of one statement and the row of an audit record, over `connections`
 * connections. Returns transactions per second, and the 99th percentile in milliseconds.
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
): Promise<{ rate: number; p99: number }> {
  const options = `-c search_path=${schema},public`;
  const pool = new pg.Pool({ connectionString: postgresUrl, options, max: connections });
  try {
    await pool.query("CREATE TABLE IF NOT EXISTS bench_insert (id bigserial PRIMARY KEY, payload text NOT NULL)");
    const took: number[] = [];
    let next = 0;
    const started = performance.now();
    const end = started + seconds * 1000;
    const writer = async (): Promise<void> => {
      const client = await pool.connect();
      while (performance.now() < end) {
        const began = performance.now();
        await client.query("BEGIN");
        await client.query(statement((next += 1)));
        await client.query({
          name: "audit",
          text: "INSERT INTO bench_insert (payload) VALUES ($1)",
          values: ["x".repeat(600)],
        });
        await client.query("COMMIT");
        took.push(performance.now() - began);
      }
      client.release();
    };
    await Promise.all(Array.from({ length: connections }, writer));
    const rate = took.length / ((performance.now() - started) / 1000);
    const p99 = took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.NaN;
    return { rate, p99 };
  } finally {
    await pool.query("DROP TABLE IF EXISTS bench_insert");
    await pool.end();
  }
}
