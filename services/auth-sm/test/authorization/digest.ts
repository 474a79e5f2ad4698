import type pg from "pg";

/**
 * A digest of each table of the service, but for the outbox, which carries the audit, and for when
 * and from where a machine was last seen.
 */
export async function digestOf(pool: pg.Pool): Promise<Record<string, string | null>> {
  const tables = await pool.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'auth_sm' ORDER BY 1",
  );
  const digests: Record<string, string | null> = {};
  for (const { name } of tables.rows) {
    if (name.startsWith("outbox")) continue;
    const { rows } = await pool.query<{ digest: string | null }>(
      `SELECT md5(string_agg(row, E'\\n' ORDER BY row)) AS digest
       FROM (SELECT (to_jsonb(t) - 'last_used_at' - 'last_ip')::text AS row FROM auth_sm.${name} t) AS rows`,
    );
    digests[name] = rows[0]?.digest ?? null;
  }
  return digests;
}
