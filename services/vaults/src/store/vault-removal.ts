import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** So many records a statement may delete well within its time. */
const mostAtOnce = 5_000;

const batch = z.object({ count: z.number(), last: z.string().nullable() });

/**
 * Removes a vault with its members and records for good. What is left are the ids, for devices and so that nobody takes
 * them again soon. The caller holds the vault alone. Returns how many records it had.
 */
export async function deleteVault(tx: Queryable, id: string, now: Date): Promise<number> {
  const at = now.toISOString();
  let total = 0;
  for (let after: string | null = null, more = true; more;) {
    const { count, last }: z.infer<typeof batch> = await deleteRecords(tx, id, after, at);
    total += count;
    after = last;
    more = count === mostAtOnce;
  }
  await tx.query(sql.typeAlias("void")`INSERT INTO deleted_vaults (id, deleted_at) VALUES (${id}, ${at})`);
  await tx.query(sql.typeAlias("void")`DELETE FROM vaults WHERE id = ${id}`);
  return total;
}

/** Deletes the records of a vault that follow `after`, or the first ones, and leaves their tombstones. */
function deleteRecords(
  tx: Queryable,
  vaultId: string,
  after: string | null,
  at: string,
): Promise<z.infer<typeof batch>> {
  const later = after === null ? sql.fragment`` : sql.fragment`AND id > ${after}::uuid`;
  return tx.one(sql.type(batch)`
    WITH gone AS (
      DELETE FROM records WHERE vault_id = ${vaultId} AND id IN (
        SELECT id FROM records WHERE vault_id = ${vaultId} ${later} ORDER BY id LIMIT ${mostAtOnce}
      )
      RETURNING vault_id, id, created_x, updated_at
    ),
    left_behind AS (
      INSERT INTO tombstones (vault_id, id, created_x, deleted_at)
      SELECT vault_id, id, created_x, greatest(${at}::timestamptz, updated_at + interval '1 microsecond') FROM gone
      ON CONFLICT (vault_id, id) DO UPDATE
        SET created_x = excluded.created_x, deleted_at = excluded.deleted_at, x = excluded.x
    )
    SELECT (SELECT count(*) FROM gone) AS count, (SELECT id FROM gone ORDER BY id DESC LIMIT 1) AS last
  `);
}
