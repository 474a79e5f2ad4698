import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Fragment, ListedSecret, Part, Scope } from "./secret-parts.ts";
import { nothing, place, readPart, rowsAtOnce, secretsDigest, secretSize } from "./secret-parts.ts";
import type { Rest } from "./secret-rests.ts";
import { readRest } from "./secret-rests.ts";
import { secretRow } from "./secrets.ts";

/** Which secrets of the folders are wanted; undefined means no condition. */
export interface SecretFilter {
  recordType?: string | undefined;
  /** ISO 8601; secrets changed at or after it. */
  updatedSince?: string | undefined;
}

const listKey = z.object({ created_at: z.string(), uid: z.string() });
/** A place in a list: lists are in order of creation. */
export type ListKey = z.infer<typeof listKey>;

const listedRow = z.union([secretRow.extend(place), nothing]);
const order = sql.fragment`created_at, uid`;

/** Which part of which list. */
export interface ListQuery {
  filter: SecretFilter;
  /** The list goes on after this secret; undefined begins it. */
  after: ListKey | undefined;
  limit: number | undefined;
}

/** The first part of a list, with the digest of a page or of all that the caller could list. */
export function listSecrets<Caller>(
  db: Queryable,
  scope: Scope<Caller>,
  { limit, ...query }: ListQuery,
): Promise<Part<Caller, ListedSecret>> {
  return readPart(db, scope, {
    // Folder by folder, each in the order of its index and no further than a part goes.
    wanted: sql.fragment`
      SELECT k.* FROM (${scope.folders}) g CROSS JOIN LATERAL (
        SELECT ctid AS at, created_at, uid, version, updated_at, ${secretSize} AS size
        FROM secrets WHERE folder_id = g.folder_id ${conditionsOf(query)}
        ORDER BY ${order} LIMIT ${rowsAtOnce(limit)}
      ) k
    `,
    order,
    limit,
    digest:
      limit === undefined
        ? scope.digest
        : sql.fragment`(SELECT ${secretsDigest} FROM asked) || '.' || (${scope.heads})`,
    extra: sql.fragment``,
    schema: listedRow,
  });
}

/** What follows in a list. */
export function restOfList(
  db: Queryable,
  { folders }: Scope<unknown>,
  { limit, ...query }: ListQuery,
): Promise<Rest<ListKey>> {
  const keys = sql.fragment`
    SELECT created_at, uid FROM secrets WHERE folder_id IN (${folders}) ${conditionsOf(query)}
  `;
  return readRest(db, { keys, order, limit, schema: listKey });
}

function conditionsOf({ filter, after }: Omit<ListQuery, "limit">): Fragment {
  if (after === undefined) return filterConditions(filter);
  const { created_at, uid } = after;
  return sql.fragment`${filterConditions(filter)} AND (created_at, uid) > (${created_at}::timestamptz, ${uid})`;
}

/** The conditions of a filter, each with AND before it. */
export function filterConditions({ recordType, updatedSince }: SecretFilter): Fragment {
  const ofType = recordType === undefined ? sql.fragment`` : sql.fragment`AND record_type = ${recordType}`;
  const since =
    updatedSince === undefined ? sql.fragment`` : sql.fragment`AND updated_at >= ${updatedSince}::timestamptz`;
  return sql.fragment`${ofType} ${since}`;
}
