import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";

/** How many credentials of an account are stored: the newest. */
const most = 16;

/** A condition: the person (SQL, an id) has a credential of this hash that was made after a moment. Null is no credential. */
export const hasCredential = (
  userId: ReturnType<typeof sql.fragment>,
  { hash, since }: { hash: Buffer | null; since: Date },
) => sql.fragment`EXISTS (
    SELECT FROM device_credentials
    WHERE hash = ${hash === null ? null : sql.binary(hash)} AND user_id = ${userId}
      AND made_at > ${since.toISOString()}::timestamptz
  )`;

/** Stores the credential of a new session in the place of the one that began the login, and the newest of the person's only. */
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

/** Deletes the credential that came with a session. */
export async function deleteCredentialOf(tx: Queryable, sessionId: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM device_credentials WHERE session_id = ${sessionId}`);
}

/** Deletes a person's credentials but for the one that came with a session. */
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
