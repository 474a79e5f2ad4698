import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import {
  type Batch,
  type Fragment,
  type ListedSecret,
  nothing,
  readBatch,
  rowColumns,
  rowsAtOnce,
  type Scope,
  secretsDigestAt,
  secretSize,
} from "./secret-batches.ts";
import { readRest, type Rest } from "./secret-rests.ts";
import { secretRow } from "./secrets.ts";

/** The filter of a list; undefined means no condition. */
export interface SecretFilter {
  recordType?: string | undefined;
  /** ISO 8601; secrets changed at or after it. */
  updatedSince?: string | undefined;
}

const listKey = z.object({ created_at: z.string(), uid: z.string() });
/** A position in a list, which is ordered by creation. */
export type ListKey = z.infer<typeof listKey>;

const listedRow = z.union([secretRow.extend(rowColumns), nothing]);
const order = sql.fragment`created_at, uid`;

export interface ListQuery {
  filter: SecretFilter;
  /** The list continues after this secret; undefined starts it. */
  after: ListKey | undefined;
  limit: number | undefined;
}

/**
 * The first batch of a list, with the digest of the page, or of everything that the caller can
 * list.
 */
export function listSecrets<Caller>(
  db: Queryable,
  scope: Scope<Caller>,
  { limit, ...query }: ListQuery,
): Promise<Batch<Caller, ListedSecret>> {
  return readBatch(db, scope, {
    // One index scan per folder, limited to a batch.
    wanted: sql.fragment`
      SELECT k.* FROM (${scope.folders}) g CROSS JOIN LATERAL (
        SELECT ctid AS at, created_at, uid, version, updated_at, expires_at, ${secretSize} AS size
        FROM secrets WHERE folder_id = g.folder_id ${scope.existing} ${conditionsOf(query)}
        ORDER BY ${order} LIMIT ${rowsAtOnce(limit)}
      ) k
    `,
    order,
    limit,
    digest:
      limit === undefined
        ? scope.digest
        : sql.fragment`(SELECT ${secretsDigestAt(scope.now)} FROM limited) || '.' || (${scope.heads})`,
    extra: sql.fragment``,
    schema: listedRow,
  });
}

/** The rest of a list. */
export function restOfList(
  db: Queryable,
  { folders, existing }: Scope<unknown>,
  { limit, ...query }: ListQuery,
): Promise<Rest<ListKey>> {
  const keys = sql.fragment`
    SELECT created_at, uid FROM secrets WHERE folder_id IN (${folders}) ${existing} ${conditionsOf(query)}
  `;
  return readRest(db, { keys, order, limit, schema: listKey });
}

function conditionsOf({ filter, after }: Omit<ListQuery, "limit">): Fragment {
  if (after === undefined) return filterConditions(filter);
  const { created_at, uid } = after;
  return sql.fragment`${filterConditions(filter)} AND (created_at, uid) > (${created_at}::timestamptz, ${uid})`;
}

/** The conditions of a filter, each prefixed with AND. */
export function filterConditions({ recordType, updatedSince }: SecretFilter): Fragment {
  const ofType = recordType === undefined ? sql.fragment`` : sql.fragment`AND record_type = ${recordType}`;
  const since =
    updatedSince === undefined ? sql.fragment`` : sql.fragment`AND updated_at >= ${updatedSince}::timestamptz`;
  return sql.fragment`${ofType} ${since}`;
}
