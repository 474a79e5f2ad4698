import { folderChanged } from "@coffer/events";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** SQL: the Postgres server and timeline that assign the current transaction ids. */
const server = sql.fragment`(SELECT s.system_identifier || '.' || c.timeline_id
  FROM pg_control_system() s, pg_control_checkpoint() c)`;

/** Logs published folder changes, each as JSON. */
export async function insertFolderChanges(db: Queryable, changes: readonly string[]): Promise<void> {
  await db.query(sql.typeAlias("void")`
    INSERT INTO folder_news (server, news)
    SELECT ${server}, published.news::json FROM unnest(${sql.array([...changes], "text")}) AS published (news)
  `);
}

const moment = z.object({ server: z.string(), x: z.string() });
/**
 * A server and its oldest unfinished transaction. A later read sees every row of older
 * transactions.
 */
export type ChangeMoment = z.infer<typeof moment>;

export function findPresent(db: Queryable): Promise<ChangeMoment> {
  return db.one(sql.type(moment)`SELECT ${server} AS server, pg_snapshot_xmin(pg_current_snapshot()) AS x`);
}

/** The row before the start of a page. */
export const changePosition = z.object({ x: z.string().regex(/^\d{1,20}$/), position: z.int() });
export type ChangePosition = z.infer<typeof changePosition>;

const row = changePosition.extend({ news: folderChanged.received });

/**
 * Changes that were logged at or after a moment: at most `limit`, and none after `bytes` of them,
 * but at least one.
 */
export function listFolderChanges(
  db: Queryable,
  { since, after, limit, bytes }: { since: ChangeMoment; after: ChangePosition | null; limit: number; bytes: number },
): Promise<readonly z.infer<typeof row>[]> {
  const { x, position } = after ?? { x: since.x, position: 0 };
  return db.any(sql.type(row)`
    SELECT x, position, news FROM (
      SELECT x, position, news, sum(length(news::text)) OVER (ORDER BY x, position) - length(news::text) AS before
      FROM (
        SELECT x, position, news FROM folder_news
        WHERE server = ${since.server} AND x >= ${since.x}::xid8 AND (x, position) > (${x}::xid8, ${position}::bigint)
        ORDER BY x, position LIMIT ${limit}
      ) AS first
    ) AS measured
    WHERE before < ${bytes} ORDER BY x, position
  `);
}

/** Whether changes that were logged at or after a moment have been deleted. */
export function isSwept(db: Queryable, since: ChangeMoment): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM folder_news_swept WHERE server = ${since.server} AND x >= ${since.x}::xid8
  `);
}

/**
 * Deletes at most `limit` changes that are older than `seconds` and were logged before a moment,
 * and records that they are gone. For rows of another server only the age counts: no replica has a
 * moment of that server any more.
 */
export async function deleteFolderChanges(
  db: Queryable,
  { seconds, before, limit }: { seconds: number; before: ChangeMoment; limit: number },
): Promise<number> {
  const { swept } = await db.one(sql.type(z.object({ swept: z.number() }))`
    WITH gone AS (
      DELETE FROM folder_news WHERE ctid IN (
        SELECT ctid FROM folder_news WHERE noted_at < clock_timestamp() - make_interval(secs => ${seconds})
          AND (server <> ${before.server} OR x < ${before.x}::xid8)
        ORDER BY noted_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      RETURNING server, x
    ),
    noted AS (
      INSERT INTO folder_news_swept AS former (server, x)
      SELECT DISTINCT ON (server) server, x FROM gone ORDER BY server, x DESC
      ON CONFLICT (server) DO UPDATE SET x = greatest(former.x, excluded.x)
    )
    SELECT count(*) AS swept FROM gone
  `);
  return swept;
}
