import pg from "pg";
import { boundTransactions, limits } from "./connection.ts";
import { translate } from "./failure.ts";

/** Runs one named prepared statement. Throws translated errors. */
export type Prepared<Row> = (values: unknown[]) => Promise<Row[]>;

/** Connections of `pg` for named prepared statements, apart from slonik's. */
export function createHotPool(config: pg.ClientConfig, size: number): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    max: size,
    connectionTimeoutMillis: limits.acquire,
    idleTimeoutMillis: 300_000,
    // Awaited by the pool, whatever its types say.
    onConnect: (client) => client.query(boundTransactions) as unknown as undefined,
  });
  // An idle connection that Postgres closes is an event, not a failure of anything that runs.
  pool.on("error", () => undefined);
  return pool;
}

/**
 * A statement by its name, prepared once per connection. `name` identifies the text within the service: two texts under
 * one name are an error of `pg`.
 */
export function prepare<Row>(pool: pg.Pool, name: string, text: string): Prepared<Row> {
  return async (values) => {
    try {
      const result = await pool.query({ name, text, values });
      return result.rows as Row[];
    } catch (error) {
      throw translate(error);
    }
  };
}
