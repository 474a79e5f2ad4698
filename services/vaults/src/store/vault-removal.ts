import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** How many records a vault has. Takes the longer the more there are. */
export function countRecords(db: Queryable, id: string): Promise<number> {
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) FROM records WHERE vault_id = ${id}
  `);
}

/**
 * Removes a vault with its members for good. Its records, which are not looked at, cannot be read any more, since nobody
 * sees the vault; they go after the commit (`emptyVault`). The vault's id stays, so that nobody takes it again soon. The
 * caller holds the vault alone.
 */
export async function deleteVault(tx: Queryable, id: string, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO deleted_vaults (id, deleted_at, emptied) VALUES (${id}, ${now.toISOString()}, false)
  `);
  await tx.query(sql.typeAlias("void")`DELETE FROM vaults WHERE id = ${id}`);
}

const fullVault = z.object({ id: z.string(), emptied_to: z.string().nullable() });
/** A vault that was deleted and is not empty yet, and up to which of its records it is. */
export type FullVault = z.infer<typeof fullVault>;

/**
 * Takes the vault that was deleted first and is not empty, until the transaction ends; those of `last` come after all
 * others, in their order. Leaves to another replica the vault that that one empties. Null when there is no other.
 */
export function takeFullVault(tx: Queryable, last: readonly string[]): Promise<FullVault | null> {
  return tx.maybeOne(sql.type(fullVault)`
    SELECT id, emptied_to FROM deleted_vaults WHERE NOT emptied
    ORDER BY array_position(${sql.array([...last], "uuid")}, id) NULLS FIRST, deleted_at
    LIMIT 1 FOR UPDATE SKIP LOCKED
  `);
}

/**
 * Deletes up to `limit` records of a vault that was taken, and leaves of each its id, for devices and so that nobody takes
 * it again soon. Whoever takes the vault next goes on behind them.
 */
export async function emptyVault(
  tx: Queryable,
  { id, emptied_to }: FullVault,
  { now, limit }: { now: Date; limit: number },
): Promise<void> {
  const behind = emptied_to === null ? sql.fragment`` : sql.fragment`AND id > ${emptied_to}`;
  // A batch costs what it deletes only if the index of the vault's records leads to it, and each row is then met by its
  // place. How many records a vault has is what Postgres knows least when one was just filled: it is not left to estimates.
  await tx.query(sql.type(z.object({ set_config: z.string() }))`
    SELECT set_config(name, 'off', true) FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan']) AS setting (name)
  `);
  await tx.query(sql.typeAlias("void")`
    WITH gone AS (
      DELETE FROM records WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM records WHERE vault_id = ${id} ${behind} ORDER BY vault_id, id LIMIT ${limit}
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
