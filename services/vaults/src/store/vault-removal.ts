import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/**
 * Removes a vault with its members for good. Its records cannot be read any more, since nobody sees the vault; they go
 * after the commit (`emptyDeletedVault`). The vault's id stays, so that nobody takes it again soon. The caller holds the
 * vault alone. Returns how many records it had.
 */
export async function deleteVault(tx: Queryable, id: string, now: Date): Promise<number> {
  const count = await tx.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) FROM records WHERE vault_id = ${id}
  `);
  await tx.query(sql.typeAlias("void")`
    INSERT INTO deleted_vaults (id, deleted_at, emptied) VALUES (${id}, ${now.toISOString()}, ${count === 0})
  `);
  await tx.query(sql.typeAlias("void")`DELETE FROM vaults WHERE id = ${id}`);
  return count;
}

/**
 * Deletes up to `limit` records of a vault that was deleted, and leaves of each its id, for devices and so that nobody
 * takes it again soon. Leaves to another replica the vault that that one empties. Returns whether there was such a vault.
 */
export async function emptyDeletedVault(tx: Queryable, { now, limit }: { now: Date; limit: number }): Promise<boolean> {
  const vault = sql.fragment`(SELECT id FROM vault)`;
  // A batch costs what it deletes only if the index of the vault's records leads to it, and each row is then met by its
  // place. How many records a vault has is what Postgres knows least when one was just filled: it is not left to estimates.
  await tx.query(sql.type(z.object({ set_config: z.string() }))`
    SELECT set_config(name, 'off', true) FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan']) AS setting (name)
  `);
  return tx.oneFirst(sql.type(z.object({ found: z.boolean() }))`
    WITH vault AS MATERIALIZED (
      SELECT id FROM deleted_vaults WHERE NOT emptied ORDER BY deleted_at LIMIT 1 FOR UPDATE SKIP LOCKED
    ),
    gone AS (
      DELETE FROM records WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM records WHERE vault_id = ${vault} ORDER BY vault_id, id LIMIT ${limit}
      ))
      RETURNING vault_id, id, created_x, updated_at
    ),
    left_behind AS (
      INSERT INTO tombstones (vault_id, id, created_x, deleted_at)
      SELECT vault_id, id, created_x, greatest(${now.toISOString()}::timestamptz, updated_at + interval '1 microsecond')
      FROM gone
      ON CONFLICT (vault_id, id) DO UPDATE
        SET created_x = excluded.created_x, deleted_at = excluded.deleted_at, x = excluded.x
    ),
    emptied AS (
      UPDATE deleted_vaults SET emptied = true WHERE id = ${vault} AND (SELECT count(*) FROM gone) < ${limit}
    )
    SELECT EXISTS (SELECT FROM vault) AS found
  `);
}
