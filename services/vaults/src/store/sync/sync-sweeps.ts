import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

// Each sweep deletes at most `limit` rows older than `before`, skips rows that another replica has
// locked, and returns the number. Tombstones and ended visibility stay as long as an older tick.

export interface SweepQuery {
  before: Date;
  limit: number;
}
type Fragment = ReturnType<typeof sql.fragment>;

async function sweep(
  db: Queryable,
  table: Fragment,
  { key, when, limit }: { key: Fragment; when: Fragment; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(sql.typeAlias("void")`
    DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${when} LIMIT ${limit} FOR UPDATE SKIP LOCKED)
  `);
  return rowCount;
}

const beforeOldestTick = sql.fragment`(SELECT x FROM sync_ticks ORDER BY label LIMIT 1)`;

/** Never deletes the newest tick, from which every sync gets its label. */
export function sweepTicks(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`sync_ticks`, {
    key: sql.fragment`label`,
    when: sql.fragment`label < ${before.toISOString()} AND label < (SELECT max(label) FROM sync_ticks)`,
    limit,
  });
}

/**
 * Deletes all but the first tick of each minute; a device with a deleted tick continues from the
 * one before. Reads only ticks after `after`, not again those that stay. Returns the last label
 * that it read (null: none), and whether more may follow.
 */
export function thinTicks(db: Queryable, { before, limit, after }: SweepQuery & { after: string | null }) {
  return db.one(sql.type(z.object({ to: z.string().nullable(), more: z.boolean() }))`
    WITH looked AS MATERIALIZED (
      SELECT label FROM sync_ticks
      WHERE label > ${after ?? "-infinity"}::timestamptz AND label < ${before.toISOString()}
        AND label < (SELECT max(label) FROM sync_ticks)
      ORDER BY label LIMIT ${limit}
    ),
    thinned AS (
      DELETE FROM sync_ticks WHERE label IN (
        SELECT label FROM sync_ticks JOIN looked USING (label)
        WHERE EXISTS (
          SELECT FROM sync_ticks earlier
          WHERE earlier.label < looked.label AND earlier.label >= date_trunc('minute', looked.label)
        )
        FOR UPDATE OF sync_ticks SKIP LOCKED
      )
    )
    SELECT max(label) AS to, count(*) = ${limit} AS more FROM looked
  `);
}

export function sweepTombstones(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`tombstones`, {
    key: sql.fragment`ctid`,
    when: sql.fragment`deleted_at < ${before.toISOString()} AND x < ${beforeOldestTick}`,
    limit,
  });
}

export function sweepSights(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`sights`, {
    key: sql.fragment`ctid`,
    when: sql.fragment`ended_at < ${before.toISOString()} AND ended_x < ${beforeOldestTick}`,
    limit,
  });
}

/** Deleted vaults without remaining records. */
export function sweepDeletedVaults(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`deleted_vaults`, {
    key: sql.fragment`id`,
    when: sql.fragment`deleted_at < ${before.toISOString()} AND emptied`,
    limit,
  });
}

export function sweepPages(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`sync_pages`, {
    key: sql.fragment`label`,
    when: sql.fragment`label < ${before.toISOString()}`,
    limit,
  });
}
