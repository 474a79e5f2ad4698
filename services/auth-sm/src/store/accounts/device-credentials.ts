import { type Fragment, type Queryable, sql } from "@coffer/postgres";

/** How many credentials of an account are stored: the newest. */
const most = 16;

/**
 * A condition: the person (SQL, an id) has this credential and it was made after `since`. A null
 * hash matches none.
 */
export const hasCredential = (
  userId: Fragment,
  { hash, since }: { hash: Buffer | null; since: Date },
) => sql.fragment`EXISTS (
    SELECT FROM device_credentials
    WHERE hash = ${hash === null ? null : sql.binary(hash)} AND user_id = ${userId}
      AND made_at > ${since.toISOString()}::timestamptz
  )`;

/**
 * Stores the credential of a new session instead of the one that started the login, and deletes the
 * person's oldest ones.
 */
export async function storeCredential(
  tx: Queryable,
  credential: { hash: Buffer; replaces: Buffer | null; userId: string; sessionId: string; now: Date },
): Promise<void> {
  const { hash, replaces, userId, sessionId, now } = credential;
  await tx.query(sql.typeAlias("void")`
    WITH stored AS (
      INSERT INTO device_credentials (hash, user_id, session_id, made_at)
      VALUES (${sql.binary(hash)}, ${userId}, ${sessionId}, ${now.toISOString()})
    )
    DELETE FROM device_credentials
    WHERE user_id = ${userId} AND hash IN (
      SELECT ${replaces === null ? null : sql.binary(replaces)}::bytea
      UNION ALL
      (SELECT hash FROM device_credentials WHERE user_id = ${userId} ORDER BY made_at DESC, hash OFFSET ${most - 1})
    )
  `);
}

export async function deleteCredentialOf(tx: Queryable, sessionId: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM device_credentials WHERE session_id = ${sessionId}`);
}

/** Deletes a person's credentials but for the one of a session. */
export async function deleteOtherCredentials(tx: Queryable, userId: string, sessionId: string | null): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    DELETE FROM device_credentials WHERE user_id = ${userId} AND session_id IS DISTINCT FROM ${sessionId}::uuid
  `);
}

/** Deletes up to `limit` credentials that were made before a moment; returns how many. */
export async function deleteCredentialsBefore(
  db: Queryable,
  { since, limit }: { since: Date; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(sql.typeAlias("void")`
    DELETE FROM device_credentials WHERE hash IN (
      SELECT hash FROM device_credentials WHERE made_at <= ${since.toISOString()}::timestamptz
      FOR UPDATE SKIP LOCKED LIMIT ${limit}
    )
  `);
  return rowCount;
}
