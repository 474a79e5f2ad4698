import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { foldCase } from "../fold-case.ts";
import type { SecretFilter } from "./secret-lists.ts";
import { filterConditions } from "./secret-lists.ts";
import type { Fragment, ListedSecret, Part, Scope } from "./secret-parts.ts";
import { nothing, place, readPart, secretsDigest, secretSize } from "./secret-parts.ts";
import type { Rest } from "./secret-rests.ts";
import { readRest } from "./secret-rests.ts";
import { secretRow } from "./secrets.ts";

/** So many characters of its folded title order a result, so that a cursor with them keeps within its length. */
export const titleStartLength = 64;

/** A place in the results: `rank` is 0 for the whole title, 1 for its beginning, 2 within. */
const searchKey = z.object({ rank: z.number(), title_start: z.string(), uid: z.string() });
export type SearchKey = z.infer<typeof searchKey>;

const found = secretRow.extend(searchKey.shape);
/** A secret whose title matches. */
export type FoundSecret = z.infer<typeof found> & ListedSecret;

const foundRow = z.union([found.extend(place), nothing]);
const order = sql.fragment`rank, title_start, uid`;

/** Which part of which search. */
export interface SearchQuery {
  words: string;
  filter: SecretFilter;
  /** The results go on after this one; undefined begins them. */
  after: SearchKey | undefined;
  limit: number | undefined;
}

/**
 * The first part of the secrets whose title holds the words, without regard to case: exact first, then by beginning,
 * then the rest, each by the beginning of the title and then by uid; and the digest of all results up to the limit.
 */
export function searchSecrets<Caller>(
  db: Queryable,
  scope: Scope<Caller>,
  { limit, ...query }: SearchQuery,
): Promise<Part<Caller, FoundSecret>> {
  const columns = sql.fragment`ctid AS at, uid, version, updated_at, ${secretSize} AS size`;
  const results = limit === undefined ? sql.fragment`wanted` : sql.fragment`asked`;
  return readPart(db, scope, {
    wanted: matches(columns, scope, query),
    order,
    limit,
    digest: sql.fragment`(SELECT ${secretsDigest} FROM ${results}) || '.' || (${scope.heads})`,
    extra: sql.fragment`, rank, title_start`,
    schema: foundRow,
  });
}

/** What follows in a search. */
export function restOfSearch(
  db: Queryable,
  scope: Scope<unknown>,
  { limit, ...query }: SearchQuery,
): Promise<Rest<SearchKey>> {
  return readRest(db, { keys: matches(sql.fragment`uid`, scope, query), order, limit, schema: searchKey });
}

/** A select of these columns of every match, and what orders it. */
function matches(
  columns: Fragment,
  { folders }: Scope<unknown>,
  { words, filter, after }: Omit<SearchQuery, "limit">,
): Fragment {
  const folded = foldCase(words);
  // `\` escapes what LIKE would take for a pattern.
  const literal = folded.replaceAll(/[\\%_]/g, "\\$&");
  const rank = sql.fragment`CASE WHEN title_folded = ${folded} THEN 0 WHEN title_folded LIKE ${`${literal}%`} THEN 1 ELSE 2 END`;
  const titleStart = sql.fragment`left(title_folded, ${titleStartLength})`;
  const from =
    after === undefined
      ? sql.fragment``
      : sql.fragment`AND (${rank}, ${titleStart}, uid) > (${after.rank}, ${after.title_start}, ${after.uid})`;
  // An array, so that Postgres does not look for the words once in each folder, of which it may think there are few.
  return sql.fragment`
    SELECT ${columns}, ${rank} AS rank, ${titleStart} AS title_start
    FROM secrets
    WHERE folder_id = ANY(ARRAY(${folders})) AND title_folded LIKE ${`%${literal}%`} ${filterConditions(filter)} ${from}
  `;
}
