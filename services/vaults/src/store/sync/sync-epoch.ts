import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/**
 * Locks out ticks and other epochs until the transaction ends.
 * @returns whether the transaction ids (x) of this schema come from this server: same system
 *   identifier, same timeline (no promotion or point-in-time recovery since), and a row that was
 *   not copied
 */
export async function lockEpoch(tx: Queryable): Promise<boolean> {
  await tx.query(sql.typeAlias("void")`LOCK TABLE sync_epoch IN EXCLUSIVE MODE`);
  return tx.exists(sql.typeAlias("void")`
    SELECT FROM sync_epoch e, pg_control_system() s, pg_control_checkpoint() c
    WHERE e.system_identifier = s.system_identifier AND e.timeline = c.timeline_id AND e.xmin = e.written_x::xid
  `);
}

const next = z.object({ next_x: z.string() });

/**
 * Blocks writes to the synced tables until the transaction ends, without a transaction timeout.
 * @returns the next transaction id of this server
 */
export async function lockSynced(tx: Queryable): Promise<string> {
  await tx.query(sql.type(z.object({ set_config: z.string() }))`
    SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'transaction_timeout'
  `);
  await tx.query(sql.typeAlias("void")`
    LOCK TABLE vaults, sights, records, tombstones IN SHARE ROW EXCLUSIVE MODE
  `);
  return tx.oneFirst(sql.type(next)`SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next_x`);
}

/** Deletes references to transactions of another server: ticks, pages and ended visibility. */
export async function forgetMoments(tx: Queryable): Promise<void> {
  await tx.query(sql.typeAlias("void")`TRUNCATE sync_ticks, sync_pages`);
  await tx.query(sql.typeAlias("void")`DELETE FROM sights WHERE ended_x IS NOT NULL`);
  await tx.query(sql.typeAlias("void")`UPDATE sights SET began_x = '3', began_snapshot = '3:3:'`);
}

const synced = { records: sql.fragment`records`, tombstones: sql.fragment`tombstones` };
const blocks = z.object({ blocks: z.number() });

/** The size of a table in blocks. */
export function countBlocks(tx: Queryable, table: keyof typeof synced): Promise<number> {
  return tx.oneFirst(sql.type(blocks)`
    SELECT pg_relation_size(${table}::regclass) / current_setting('block_size')::bigint AS blocks
  `);
}

/** Resets every x ahead of the server, in the blocks from `from` to before `to`. */
export async function setBack(
  tx: Queryable,
  table: keyof typeof synced,
  { from, to, nextX }: { from: number; to: number; nextX: string },
): Promise<void> {
  const ahead = sql.fragment`${nextX}::xid8`;
  await tx.query(sql.typeAlias("void")`
    UPDATE ${synced[table]} SET
      x = CASE WHEN x >= ${ahead} THEN '3' ELSE x END,
      created_x = CASE WHEN created_x >= ${ahead} THEN '3' ELSE created_x END
    WHERE ctid >= ${`(${from},0)`}::tid AND ctid < ${`(${to},0)`}::tid AND (x >= ${ahead} OR created_x >= ${ahead})
  `);
}

/** Resets every x of the vaults that is ahead of the server. */
export async function setBackVaults(tx: Queryable, nextX: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`UPDATE vaults SET x = '3' WHERE x >= ${nextX}::xid8`);
}

/** Records this server as the source of x. Labels continue. */
export async function writeEpoch(tx: Queryable, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO sync_epoch AS former (system_identifier, timeline, last_label)
    SELECT system_identifier, timeline_id, ${now.toISOString()} FROM pg_control_system(), pg_control_checkpoint()
    ON CONFLICT (single) DO UPDATE SET
      system_identifier = excluded.system_identifier, timeline = excluded.timeline, written_x = excluded.written_x,
      last_label = greatest(former.last_label, excluded.last_label), last_x = '3', ticked_at = '-infinity'
  `);
}
