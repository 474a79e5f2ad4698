import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** The last entry that was sent: vault, kind (0: changes, 1: deletions), transaction and id. */
export const position = z.object({ vault_id: z.guid(), kind: z.int().min(0).max(1), x: z.string(), id: z.guid() });
export type Position = z.infer<typeof position>;

/** Where a response continues: from `from_x` (`0`: everything) up to `to_label`. */
export interface Page {
  from_x: string;
  to_label: string;
  position: Position;
  reset: boolean;
  /** The connection on which the response began; null: unknown. */
  connection_id: string | null;
}

const label = z.string();

/**
 * Stores a page under a new label, later than every label before it.
 * @returns the label; null if the epoch is over
 */
export function insertPage(
  db: Queryable,
  { userId, page, now }: { userId: string; page: Page; now: Date },
): Promise<string | null> {
  return db.maybeOneFirst(sql.type(z.object({ label }))`
    WITH given AS (
      UPDATE sync_epoch SET
        written_x = pg_current_xact_id(),
        last_label = greatest(${now.toISOString()}::timestamptz, last_label + interval '1 millisecond')
      WHERE xmin = written_x::xid
      RETURNING last_label
    )
    INSERT INTO sync_pages (label, user_id, from_x, to_label, position, reset, connection_id)
    SELECT last_label, ${userId}, ${page.from_x}::xid8, ${page.to_label}::timestamptz,
      ${JSON.stringify(page.position)}::json, ${page.reset}, ${page.connection_id}::uuid
    FROM given
    RETURNING label
  `);
}

const storedPage = z.object({
  from_x: z.string(),
  to_label: label,
  position,
  reset: z.boolean(),
  connection_id: z.string().nullable(),
  recent: z.boolean(),
});

/** The page of this label and person; `recent`: not before `oldest`. */
export function findPage(
  db: Queryable,
  { userId, label, oldest }: { userId: string; label: string; oldest: Date },
): Promise<(Page & { recent: boolean }) | null> {
  return db.maybeOne(sql.type(storedPage)`
    SELECT from_x, to_label, position, reset, connection_id, label >= ${oldest.toISOString()}::timestamptz AS recent
    FROM sync_pages WHERE label = ${label}::timestamptz AND user_id = ${userId}
  `);
}
