import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

const result = z.object({ same_server: z.boolean() });

/**
 * Stores a tick if the watermark has moved, at most one every 20 ms. The watermark is the oldest
 * running transaction: a snapshot that sees the tick sees all older ones. Labels only grow,
 * also if `now` goes back, in whole milliseconds, since some clients drop the rest.
 * @returns whether x comes from this server (see `sync-epoch.ts`); stores nothing if not
 */
export async function storeTick(db: Queryable, now: Date): Promise<boolean> {
  const { same_server } = await db.one(sql.type(result)`
    WITH epoch AS (
      SELECT e.system_identifier = s.system_identifier AND e.timeline = c.timeline_id AND e.xmin = e.written_x::xid AS same
      FROM sync_epoch e, pg_control_system() s, pg_control_checkpoint() c
    ),
    tick AS (
      UPDATE sync_epoch SET
        written_x = pg_current_xact_id(),
        last_label = greatest(${now.toISOString()}::timestamptz, last_label + interval '1 millisecond'),
        last_x = pg_snapshot_xmin(pg_current_snapshot()),
        ticked_at = clock_timestamp()
      WHERE (SELECT same FROM epoch) AND last_x < pg_snapshot_xmin(pg_current_snapshot())
        AND clock_timestamp() NOT BETWEEN ticked_at AND ticked_at + interval '20 milliseconds'
      RETURNING last_label, last_x
    ),
    stored AS (INSERT INTO sync_ticks (label, x) SELECT last_label, last_x FROM tick)
    SELECT coalesce((SELECT same FROM epoch), false) AS same_server
  `);
  return same_server;
}

const moment = z.object({ newest: z.string(), from_x: z.string().nullable() });
/** `newest`: the label of the last tick. `from_x`: the watermark at the requested label. */
export type Moment = z.infer<typeof moment>;

/**
 * The watermark at `label`: of its tick or the one before. Null if the label is before `oldest`,
 * before all stored ticks or after the last one.
 * @returns null before the first tick
 */
export function findMoment(
  db: Queryable,
  { label, oldest }: { label: string | null; oldest: Date },
): Promise<Moment | null> {
  return db.maybeOne(sql.type(moment)`
    SELECT newest.label AS newest, (
      SELECT x FROM sync_ticks
      WHERE label <= ${label}::timestamptz AND ${label}::timestamptz BETWEEN ${oldest.toISOString()} AND newest.label
      ORDER BY label DESC LIMIT 1
    ) AS from_x
    FROM (SELECT label FROM sync_ticks ORDER BY label DESC LIMIT 1) newest
  `);
}

/**
 * Whether the changes between a watermark (`0`: everything) and a label are still stored. Swept
 * rows are older than the oldest tick; ticks of an earlier epoch are gone.
 */
export function isKnown(db: Queryable, { fromX, toLabel }: { fromX: string; toLabel: string }): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM (SELECT label, x FROM sync_ticks ORDER BY label LIMIT 1) oldest
    WHERE oldest.label <= ${toLabel}::timestamptz AND (${fromX}::xid8 = '0' OR oldest.x <= ${fromX}::xid8)
  `);
}

const held = z.object({ watermark: z.string(), held: z.boolean() });

/** The watermark, and whether a transaction holds it while later ones exist. */
export function findWatermark(db: Queryable): Promise<{ watermark: string; held: boolean }> {
  return db.one(sql.type(held)`
    SELECT pg_snapshot_xmin(now) AS watermark, pg_snapshot_xmin(now) < pg_snapshot_xmax(now) AS held
    FROM pg_current_snapshot() AS now
  `);
}
