import { folderChanged } from "@coffer/events";
import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** SQL: which server, in which life of it, gives the transaction ids now. */
const server = sql.fragment`(SELECT s.system_identifier || '.' || c.timeline_id
  FROM pg_control_system() s, pg_control_checkpoint() c)`;

/** Notes news as they were told, each as JSON. */
export async function insertFolderNews(db: Queryable, news: readonly string[]): Promise<void> {
  await db.query(sql.typeAlias("void")`
    INSERT INTO folder_news (server, news)
    SELECT ${server}, told.news::json FROM unnest(${sql.array([...news], "text")}) AS told (news)
  `);
}

const moment = z.object({ server: z.string(), x: z.string() });
/** A server and its oldest transaction that was still under way: what older ones noted is seen by who reads later. */
export type FolderNewsMoment = z.infer<typeof moment>;

/** The present moment. */
export function findPresent(db: Queryable): Promise<FolderNewsMoment> {
  return db.one(sql.type(moment)`SELECT ${server} AS server, pg_snapshot_xmin(pg_current_snapshot()) AS x`);
}

/** Behind which row a page begins. */
export const newsPosition = z.object({ x: z.string().regex(/^\d{1,20}$/), position: z.int() });
export type NewsPosition = z.infer<typeof newsPosition>;

const row = newsPosition.extend({ news: folderChanged.received });

/** News that were noted at or after a moment: at most `limit`, and none after `bytes` of them; one at least. */
export function listFolderNews(
  db: Queryable,
  { since, after, limit, bytes }: { since: FolderNewsMoment; after: NewsPosition | null; limit: number; bytes: number },
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

/** Whether news that were noted at or after a moment have been swept away. */
export function isSwept(db: Queryable, since: FolderNewsMoment): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM folder_news_swept WHERE server = ${since.server} AND x >= ${since.x}::xid8
  `);
}

/**
 * Takes away at most `limit` news that are older than `seconds` and were noted before a moment, and remembers that they are
 * gone. Of another server's news the age alone counts: nobody's moment is of that server any more.
 */
export async function sweepFolderNews(
  db: Queryable,
  { seconds, before, limit }: { seconds: number; before: FolderNewsMoment; limit: number },
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
