import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Fragment, ListedSecret, Part, Scope } from "./secret-parts.ts";
import { nothing, place, readPart, secretSize } from "./secret-parts.ts";
import { secretRow } from "./secrets.ts";

// What follows after the first part of a list is found once and kept by uid: to find it again for every part would cost
// each time what it cost the first.

/** What follows in a list, as it was when it was found. */
export interface Rest<Key> {
  /** Of the secrets, one after the other: each has 22 characters. */
  uids: string;
  /** The last of them when more follow beyond the limit; null when none do, and when all of it was wanted. */
  end: Key | null;
}

const allUids = z.object({ uids: z.string() });

/** `limit` of what `keys` selects, or all of it. `schema` is that of its rows; `order` has columns of theirs. */
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

const namedRow = z.union([secretRow.extend(place), nothing]);

/**
 * Those of these secrets of an organization that the folders still have, in this order, and in the same statement who
 * the caller is. At most as many may be named as a part may have.
 */
export function readNamed<Caller>(
  db: Queryable,
  scope: Scope<Caller>,
  { orgId, uids }: { orgId: string; uids: readonly string[] },
): Promise<Part<Caller, ListedSecret>> {
  return readPart(db, scope, {
    // Materialized: by uid first, however few folders Postgres may think there are.
    wanted: sql.fragment`
      WITH named AS MATERIALIZED (
        SELECT secrets.ctid AS at, folder_id, place, ${secretSize} AS size
        FROM unnest(${sql.array([...uids], "text")}) WITH ORDINALITY AS u (uid, place) JOIN secrets USING (uid)
        WHERE org_id = ${orgId}
      )
      SELECT at, place, size FROM named WHERE folder_id IN (${scope.folders})
    `,
    order: sql.fragment`place`,
    extra: sql.fragment``,
    schema: namedRow,
  });
}
