import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** Takes time in proportion to the records. */
export function countRecords(db: Queryable, id: string): Promise<number> {
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) FROM records WHERE vault_id = ${id}
  `);
}

/**
 * Deletes a vault with its members. Its records become unreadable, and `emptyVault` deletes them
 * after the commit. The id stays reserved. The caller has locked the vault exclusively.
 */
export async function deleteVault(tx: Queryable, id: string, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO deleted_vaults (id, deleted_at, emptied) VALUES (${id}, ${now.toISOString()}, false)
  `);
  await tx.query(sql.typeAlias("void")`DELETE FROM vaults WHERE id = ${id}`);
}

const fullVault = z.object({ id: z.string(), emptied_to: z.string().nullable() });
/** A deleted vault that still has records after the id `emptied_to`. */
export type FullVault = z.infer<typeof fullVault>;

/**
 * Locks the oldest deleted vault that still has records; those of `last` come after all others, in
 * their order. Skips vaults that another replica has locked. Null if there is none.
 */
export function takeFullVault(tx: Queryable, last: readonly string[]): Promise<FullVault | null> {
  return tx.maybeOne(sql.type(fullVault)`
    SELECT id, emptied_to FROM deleted_vaults WHERE NOT emptied
    ORDER BY array_position(${sql.array([...last], "uuid")}, id) NULLS FIRST, deleted_at
    LIMIT 1 FOR UPDATE SKIP LOCKED
  `);
}

/**
 * Deletes up to `limit` records of a locked vault and leaves tombstones. The next batch continues
 * after them.
 */
export async function emptyVault(
  tx: Queryable,
  { id, emptied_to }: FullVault,
  { now, limit }: { now: Date; limit: number },
): Promise<void> {
  const afterEmptied = emptied_to === null ? sql.fragment`` : sql.fragment`AND id > ${emptied_to}`;
  // Forces the index of the vault's records, then ctid lookups: a batch then costs what it deletes.
  // The planner's estimates are wrong for a vault that was just filled.
  await tx.query(sql.type(z.object({ set_config: z.string() }))`
    SELECT set_config(name, 'off', true) FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan']) AS setting (name)
  `);
  await tx.query(sql.typeAlias("void")`
    WITH gone AS (
      DELETE FROM records WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM records WHERE vault_id = ${id} ${afterEmptied} ORDER BY vault_id, id LIMIT ${limit}
      ))
      RETURNING vault_id, id, created_x, updated_at
    ),
    left_behind AS (
      INSERT INTO tombstones (vault_id, id, created_x, deleted_at)
      SELECT vault_id, id, created_x, greatest(${now.toISOString()}::timestamptz, updated_at + interval '1 microsecond')
      FROM gone
      ON CONFLICT (vault_id, id) DO UPDATE
        SET created_x = excluded.created_x, deleted_at = excluded.deleted_at, x = excluded.x
    )
    UPDATE deleted_vaults SET
      emptied_to = (SELECT gone.id FROM gone ORDER BY gone.id DESC LIMIT 1),
      emptied = (SELECT count(*) FROM gone) < ${limit}
    WHERE id = ${id}
  `);
  await tx.query(sql.typeAlias("void")`
    DELETE FROM vault_payers p USING deleted_vaults d WHERE d.id = ${id} AND d.emptied AND p.vault_id = d.id
  `);
}
