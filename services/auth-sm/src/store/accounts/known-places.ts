import { type Fragment, type Queryable, sql } from "@coffer/postgres";

/** How many addresses of an account are stored: the latest. */
const most = 16;

/**
 * A condition: the person (SQL, an id) has logged in or renewed a session from this address since a
 * moment.
 */
export const isKnownPlace = (userId: Fragment, { place, since }: { place: string; since: Date }) =>
  sql.fragment`EXISTS (
    SELECT FROM known_places
    WHERE user_id = ${userId} AND place = ${place} AND seen_at > ${since.toISOString()}::timestamptz
  )`;

/**
 * Stores that a person has logged in or renewed a session from an address, and deletes the person's
 * oldest ones.
 */
export async function noteKnownPlace(
  tx: Queryable,
  { userId, place, now }: { userId: string; place: string; now: Date },
): Promise<void> {
  const at = now.toISOString();
  // An address that is used again meanwhile has another time, and stays.
  await tx.query(sql.typeAlias("void")`
    WITH noted AS (
      INSERT INTO known_places (user_id, place, seen_at) VALUES (${userId}, ${place}, ${at})
      ON CONFLICT (user_id, place) DO UPDATE SET seen_at = greatest(known_places.seen_at, excluded.seen_at)
    )
    DELETE FROM known_places WHERE (user_id, place, seen_at) IN (
      SELECT user_id, place, seen_at FROM known_places
      WHERE user_id = ${userId} AND place <> ${place} ORDER BY seen_at DESC, place OFFSET ${most - 1}
    )
  `);
}

/** Deletes up to `limit` addresses that were not used since a moment; returns how many. */
export async function deleteKnownPlacesPast(
  db: Queryable,
  { since, limit }: { since: Date; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(sql.typeAlias("void")`
    DELETE FROM known_places WHERE (user_id, place) IN (
      SELECT user_id, place FROM known_places WHERE seen_at <= ${since.toISOString()}::timestamptz
      FOR UPDATE SKIP LOCKED LIMIT ${limit}
    )
  `);
  return rowCount;
}
