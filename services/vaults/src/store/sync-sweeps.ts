import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

// Each takes away at most `limit` rows that are older than `before`, leaves to another replica what that one takes, and
// says how many it took. What was deleted, and who ceased to see what, stays as long as a tick that it is told after.

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

/** Ticks, but never the newest: without it nobody could be told of a moment. */
export function sweepTicks(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`sync_ticks`, {
    key: sql.fragment`label`,
    when: sql.fragment`label < ${before.toISOString()} AND label < (SELECT max(label) FROM sync_ticks)`,
    limit,
  });
}

/**
 * Of the ticks, all but the first of each minute: whoever knows another continues from the one before it. Looks at those
 * that follow `after`, so that those that it keeps are not looked at again: there is one for each minute of 90 days.
 * Returns the last at which it looked (null: at none), and whether others may follow it.
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

/** Records that were deleted. */
export function sweepTombstones(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`tombstones`, {
    key: sql.fragment`ctid`,
    when: sql.fragment`deleted_at < ${before.toISOString()} AND x < ${beforeOldestTick}`,
    limit,
  });
}

/** Sights that ended. */
export function sweepSights(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`sights`, {
    key: sql.fragment`ctid`,
    when: sql.fragment`ended_at < ${before.toISOString()} AND ended_x < ${beforeOldestTick}`,
    limit,
  });
}

/** Ids of deleted vaults that have no records left. */
export function sweepDeletedVaults(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`deleted_vaults`, {
    key: sql.fragment`id`,
    when: sql.fragment`deleted_at < ${before.toISOString()} AND emptied`,
    limit,
  });
}

/** Pages of answers. */
export function sweepPages(db: Queryable, { before, limit }: SweepQuery): Promise<number> {
  return sweep(db, sql.fragment`sync_pages`, {
    key: sql.fragment`label`,
    when: sql.fragment`label < ${before.toISOString()}`,
    limit,
  });
}
