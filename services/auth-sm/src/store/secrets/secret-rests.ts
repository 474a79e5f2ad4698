import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import {
  type Batch,
  type Fragment,
  type ListedSecret,
  nothing,
  readBatch,
  rowColumns,
  type Scope,
  secretSize,
} from "./secret-batches.ts";
import { secretRow } from "./secrets.ts";

// The rest of a list after its first batch is queried once and held as uids: querying it again for
// every batch would cost as much each time.

/** The rest of a list at the time of its query. */
export interface Rest<Key> {
  /** The uids, concatenated: each has 22 characters. */
  uids: string;
  /** The last of them when more follow beyond the limit; otherwise null. */
  end: Key | null;
}

const allUids = z.object({ uids: z.string() });

/**
 * `limit` rows of `keys`, or all. `schema` is that of its rows; `order` names some of their
 * columns.
 */
export async function readRest<Key extends { uid: string }>(
  db: Queryable,
  {
    keys,
    order,
    limit,
    schema,
  }: { keys: Fragment; order: Fragment; limit: number | undefined; schema: z.ZodType<Key> },
): Promise<Rest<Key>> {
  if (limit === undefined) {
    const { uids } = await db.one(sql.type(allUids)`
      SELECT coalesce(string_agg(uid, '' ORDER BY ${order}), '') AS uids FROM (${keys}) k
    `);
    return { uids, end: null };
  }
  const found = await db.any(sql.type(schema)`SELECT * FROM (${keys}) k ORDER BY ${order} LIMIT ${limit + 1}`);
  const within = found.slice(0, limit);
  const end = found.length > limit ? (within.at(-1) ?? null) : null;
  return { uids: within.map(({ uid }) => uid).join(""), end };
}

const namedRow = z.union([secretRow.extend(rowColumns), nothing]);

/**
 * Those of the named secrets that the folders still have and that exist for the caller, in this
 * order, with the caller's state from the same statement. At most `mostRows` may be named.
 */
export function readNamed<Caller>(
  db: Queryable,
  scope: Scope<Caller>,
  { orgId, uids }: { orgId: string; uids: readonly string[] },
): Promise<Batch<Caller, ListedSecret>> {
  return readBatch(db, scope, {
    // Materialized: search by uid first, whatever Postgres estimates for the number of folders.
    wanted: sql.fragment`
      WITH named AS MATERIALIZED (
        SELECT secrets.ctid AS at, folder_id, position, ${secretSize} AS size
        FROM unnest(${sql.array([...uids], "text")}) WITH ORDINALITY AS u (uid, position) JOIN secrets USING (uid)
        WHERE org_id = ${orgId} ${scope.existing}
      )
      SELECT at, position, size FROM named WHERE folder_id IN (${scope.folders})
    `,
    order: sql.fragment`position`,
    extra: sql.fragment``,
    schema: namedRow,
  });
}
