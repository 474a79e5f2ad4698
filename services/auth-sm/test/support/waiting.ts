import pg from "pg";
import { until } from "@coffer/testkit";
import type { TestService } from "./service.ts";

/**
 * Locks a table of auth-sm exclusively, makes requests, and runs `meanwhile` once all of them wait
 * for the lock. Then it releases the lock. Returns the responses.
 */
export async function whileWaitingFor<Answer>(
  service: TestService,
  table: string,
  requests: (() => Promise<Answer>)[],
  meanwhile: () => Promise<unknown>,
): Promise<Answer[]> {
  const client = new pg.Client({ connectionString: service.postgres.url });
  await client.connect();
  try {
    await client.query(`BEGIN; LOCK TABLE auth_sm.${table} IN ACCESS EXCLUSIVE MODE`);
    const answers = Promise.all(requests.map((request) => request()));
    await until("all wait", async () => {
      const { rowCount } = await client.query(
        "SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        [`auth_sm.${table}`],
      );
      return (rowCount ?? 0) >= requests.length;
    });
    await meanwhile();
    await client.query("COMMIT");
    return await answers;
  } finally {
    await client.end();
  }
}
