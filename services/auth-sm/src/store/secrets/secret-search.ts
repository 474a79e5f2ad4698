import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { foldCase } from "../../fold-case.ts";
import { filterConditions, type SecretFilter } from "./secret-lists.ts";
import {
  type Batch,
  type Fragment,
  type ListedSecret,
  nothing,
  readBatch,
  rowColumns,
  type Scope,
  secretsDigestAt,
  secretSize,
} from "./secret-batches.ts";
import { readRest, type Rest } from "./secret-rests.ts";
import { secretRow } from "./secrets.ts";

/** Limits the folded title in the sort key, so that a cursor stays within its length. */
export const titleStartLength = 64;

/**
 * A position in the results. `rank` is 0 for an exact title, 1 for a prefix, 2 for a match inside.
 */
const searchKey = z.object({ rank: z.number(), title_start: z.string(), uid: z.string() });
export type SearchKey = z.infer<typeof searchKey>;

const found = secretRow.extend(searchKey.shape);
export type FoundSecret = z.infer<typeof found> & ListedSecret;

const foundRow = z.union([found.extend(rowColumns), nothing]);
const order = sql.fragment`rank, title_start, uid`;

export interface SearchQuery {
  words: string;
  filter: SecretFilter;
  /** The results continue after this one; undefined starts them. */
  after: SearchKey | undefined;
  limit: number | undefined;
}

/**
 * The first batch of the secrets whose title contains the words, without regard to case: exact
 * matches first, then prefixes, then the rest, each by title and uid. Also the digest of all
 * results up to the limit.
 */
export function searchSecrets<Caller>(
  db: Queryable,
  scope: Scope<Caller>,
  { limit, ...query }: SearchQuery,
): Promise<Batch<Caller, FoundSecret>> {
  const columns = sql.fragment`ctid AS at, uid, version, updated_at, expires_at, ${secretSize} AS size`;
  const results = limit === undefined ? sql.fragment`wanted` : sql.fragment`limited`;
  return readBatch(db, scope, {
    wanted: matches(columns, scope, query),
    order,
    limit,
    digest: sql.fragment`(SELECT ${secretsDigestAt(scope.now)} FROM ${results}) || '.' || (${scope.heads})`,
    extra: sql.fragment`, rank, title_start`,
    schema: foundRow,
  });
}

/** The rest of a search. */
export function restOfSearch(
  db: Queryable,
  scope: Scope<unknown>,
  { limit, ...query }: SearchQuery,
): Promise<Rest<SearchKey>> {
  return readRest(db, { keys: matches(sql.fragment`uid`, scope, query), order, limit, schema: searchKey });
}

/** A select of these columns of every match, with its sort key. */
function matches(
  columns: Fragment,
  { folders, existing }: Scope<unknown>,
  { words, filter, after }: Omit<SearchQuery, "limit">,
): Fragment {
  const folded = foldCase(words);
  // Escapes the wildcards of LIKE.
  const literal = folded.replaceAll(/[\\%_]/g, "\\$&");
  const rank = sql.fragment`CASE WHEN title_folded = ${folded} THEN 0 WHEN title_folded LIKE ${`${literal}%`} THEN 1 ELSE 2 END`;
  const titleStart = sql.fragment`left(title_folded, ${titleStartLength})`;
  const from =
    after === undefined
      ? sql.fragment``
      : sql.fragment`AND (${rank}, ${titleStart}, uid) > (${after.rank}, ${after.title_start}, ${after.uid})`;
  // An array makes Postgres search once instead of once per folder, whatever it estimates for their
  // number.
  return sql.fragment`
    SELECT ${columns}, ${rank} AS rank, ${titleStart} AS title_start
    FROM secrets
    WHERE folder_id = ANY(ARRAY(${folders})) AND title_folded LIKE ${`%${literal}%`} ${existing}
      ${filterConditions(filter)} ${from}
  `;
}
