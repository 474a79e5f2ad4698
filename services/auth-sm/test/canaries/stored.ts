import { Redis } from "ioredis";
import { until } from "@coffer/testkit";
import pg from "pg";

/** All that Postgres has, by column (`table.column`), the outbox too. */
export async function storedInPostgres({ url }: { url: string }): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const columns = await client.query<{ table: string; column: string }>(
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
       WHERE table_schema = 'auth_sm'`,
    );
    const stored = new Map<string, string>();
    for (const { table, column } of columns.rows) {
      const { rows } = await client.query<{ text: string | null }>(
        `SELECT string_agg("${column}"::text, E'\\n') AS text FROM auth_sm.${table}`,
      );
      stored.set(`${table}.${column}`, rows[0]?.text ?? "");
    }
    return stored;
  } finally {
    await client.end();
  }
}

/** All that Redis has. */
export async function storedInRedis({ url }: { url: string }): Promise<string> {
  const redis = new Redis(url);
  try {
    await until("the connection", () => redis.status === "ready");
    const keys = await redis.keys("*");
    const values = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
    const sets = await Promise.all(keys.map((key) => redis.zrange(key, "0", "-1").catch(() => [])));
    return [...keys, ...values.map((value) => value.toString("latin1")), ...sets.flat()].join("\n");
  } finally {
    redis.disconnect();
  }
}
