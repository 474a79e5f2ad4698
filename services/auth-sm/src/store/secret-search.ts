import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { foldCase } from "../fold-case.ts";
import type { SecretFilter, SecretRow } from "./secrets.ts";
import { secretConditions, secretRow, secretColumns } from "./secrets.ts";

/** So many characters of its folded title order a result, so that a cursor with them keeps within its length. */
export const titleStartLength = 64;

const foundRow = secretRow.extend({ rank: z.number(), title_start: z.string() });
/** A secret whose title matches: `rank` 0 the whole title, 1 its beginning, 2 within. */
export type FoundSecret = z.infer<typeof foundRow>;

/** Where the next page of a search begins: after this match. */
export interface SearchPosition {
  rank: number;
  titleStart: string;
  uid: string;
}

/**
 * Secrets whose title holds the words, without regard to case: exact first, then by beginning, then the rest, each by
 * the beginning of the title and then by uid.
 */
export function searchSecrets(
  db: Queryable,
  words: string,
  { after, ...filter }: Omit<SecretFilter, "after"> & { after?: SearchPosition | undefined },
): Promise<readonly (FoundSecret & SecretRow)[]> {
  const folded = foldCase(words);
  // `\` escapes what LIKE would take for a pattern.
  const literal = folded.replaceAll(/[\\%_]/g, "\\$&");
  const rank = sql.fragment`CASE WHEN title_folded = ${folded} THEN 0 WHEN title_folded LIKE ${`${literal}%`} THEN 1 ELSE 2 END`;
  const titleStart = sql.fragment`left(title_folded, ${titleStartLength})`;
  const conditions = [
    ...secretConditions(filter),
    sql.fragment`title_folded LIKE ${`%${literal}%`}`,
    ...(after === undefined
      ? []
      : [sql.fragment`(${rank}, ${titleStart}, uid) > (${after.rank}, ${after.titleStart}, ${after.uid})`]),
  ];
  return db.any(sql.type(foundRow)`
    SELECT ${secretColumns}, ${rank} AS rank, ${titleStart} AS title_start
    FROM secrets WHERE ${sql.join(conditions, sql.fragment` AND `)}
    ORDER BY rank, title_start, uid
    ${filter.limit === undefined ? sql.fragment`` : sql.fragment`LIMIT ${filter.limit}`}
  `);
}
