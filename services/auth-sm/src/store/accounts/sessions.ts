import { type Database, type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** A condition: this session has not been ended. For statements that authorize a write. */
export const notEnded = (sessionId: string) =>
  sql.fragment`EXISTS (SELECT FROM sessions WHERE id = ${sessionId} AND revoked_at IS NULL)`;

/** The client's description of its device. */
export interface Device {
  id: string;
  name: string;
  type: string;
}

export async function insertSession(
  tx: Queryable,
  session: {
    id: string;
    userId: string;
    device: Device;
    ip: string;
    refreshHash: Buffer;
    now: Date;
    expiresAt: Date;
  },
): Promise<void> {
  const now = session.now.toISOString();
  await tx.query(sql.typeAlias("void")`
    INSERT INTO sessions (id, user_id, device_id, device_name, device_type, ip, generation, refresh_hash, rotated_at,
      created_at, last_used_at, expires_at)
    VALUES (${session.id}, ${session.userId}, ${session.device.id}, ${session.device.name}, ${session.device.type},
      ${session.ip}, 1, ${sql.binary(session.refreshHash)}, ${now}, ${now}, ${now}, ${session.expiresAt.toISOString()})
  `);
}

const lockedSession = z.object({
  id: z.string(),
  user_id: z.string(),
  generation: z.number(),
  refresh_hash: z.instanceof(Buffer),
  rotated_at: z.string(),
  expires_at: z.string(),
  revoked_reason: z.string().nullable(),
});
/** A session as its refresh needs it; `revoked_reason` is null while the session is active. */
export type LockedSession = z.infer<typeof lockedSession>;

/** Locks a session against a concurrent refresh; null when there is none. */
export function lockSession(tx: Queryable, sessionId: string): Promise<LockedSession | null> {
  return tx.maybeOne(sql.type(lockedSession)`
    SELECT id, user_id, generation, refresh_hash, rotated_at, expires_at, revoked_reason
    FROM sessions WHERE id = ${sessionId} FOR UPDATE
  `);
}

/** Replaces the refresh token of a locked session. */
export async function rotateSession(
  tx: Queryable,
  session: { id: string; generation: number; refreshHash: Buffer; ip: string; now: Date; expiresAt: Date },
): Promise<void> {
  const now = session.now.toISOString();
  await tx.query(sql.typeAlias("void")`
    UPDATE sessions SET generation = ${session.generation}, refresh_hash = ${sql.binary(session.refreshHash)},
      rotated_at = ${now}, last_used_at = ${now}, ip = ${session.ip}, expires_at = ${session.expiresAt.toISOString()}
    WHERE id = ${session.id}
  `);
}

/** Returns false when the session had ended already. */
export async function endSession(tx: Queryable, sessionId: string, reason: string, now: Date): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    UPDATE sessions SET revoked_at = ${now.toISOString()}, revoked_reason = ${reason}
    WHERE id = ${sessionId} AND revoked_at IS NULL
  `);
  return rowCount === 1;
}

const sessionRow = z.object({
  id: z.string(),
  device: z.object({ id: z.string(), name: z.string(), type: z.string() }),
  created_at: z.string(),
  last_used_at: z.string(),
  ip: z.string().nullable(),
});
export type SessionRow = z.infer<typeof sessionRow>;

/** The active sessions of a person, last used first. */
export function listSessions(db: Queryable, userId: string, now: Date): Promise<readonly SessionRow[]> {
  return db.any(sql.type(sessionRow)`
    SELECT id, json_build_object('id', device_id, 'name', device_name, 'type', device_type) AS device,
      created_at, last_used_at, host(ip) AS ip
    FROM sessions
    WHERE user_id = ${userId} AND revoked_at IS NULL AND expires_at > ${now.toISOString()}::timestamptz
    ORDER BY last_used_at DESC, id
  `);
}

/** Locks the active sessions of a person and returns their ids. */
export function lockSessions(tx: Queryable, userId: string, now: Date): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM sessions
    WHERE user_id = ${userId} AND revoked_at IS NULL AND expires_at > ${now.toISOString()}::timestamptz
    ORDER BY id FOR UPDATE
  `);
}

/** Whether a session has not been ended, or only by this transaction. */
export function isNotEndedByOthers(tx: Queryable, sessionId: string): Promise<boolean> {
  return tx.exists(sql.typeAlias("void")`
    SELECT FROM sessions WHERE id = ${sessionId} AND (revoked_at IS NULL OR xmin = pg_current_xact_id()::xid)
  `);
}

const revokedSession = z.object({ id: z.string(), revoked_at: z.string() });

/** Sessions that were ended at or after this moment. */
export function listRevokedSessions(db: Queryable, since: Date): Promise<readonly z.infer<typeof revokedSession>[]> {
  return db.any(sql.type(revokedSession)`
    SELECT id, revoked_at FROM sessions WHERE revoked_at >= ${since.toISOString()}::timestamptz
  `);
}

/**
 * Up to `limit` sessions that were ended at or after a moment, oldest first. Of those that ended
 * exactly at `since`, only the ones after the id `after`.
 */
export function listRevokedSessionsFrom(
  db: Queryable,
  { since, after, limit }: { since: string; after: string | undefined; limit: number },
): Promise<readonly z.infer<typeof revokedSession>[]> {
  return db.any(sql.type(revokedSession)`
    SELECT id, revoked_at FROM sessions
    WHERE revoked_at >= ${since}::timestamptz
      AND (${after ?? null}::uuid IS NULL OR (revoked_at, id) > (${since}::timestamptz, ${after ?? null}::uuid))
    ORDER BY revoked_at, id LIMIT ${limit}
  `);
}

/**
 * Deletes up to `limit` expired sessions; returns how many. It scans the table: an index on
 * `expires_at` would make every refresh more expensive.
 */
export async function deleteSessionsPast(db: Queryable, { now, limit }: { now: Date; limit: number }): Promise<number> {
  const { rowCount } = await db.query(sql.typeAlias("void")`
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE expires_at <= ${now.toISOString()}::timestamptz FOR UPDATE SKIP LOCKED LIMIT ${limit}
    )
  `);
  return rowCount;
}

/** Whether this session of this person is active: a prepared statement, run for every request. */
export async function sessionLasts(
  database: Database,
  { userId, sessionId }: { userId: string; sessionId: string },
  now: Date,
): Promise<boolean> {
  const query = database.prepared<{ lasts: boolean }>(
    "session-lasts",
    "SELECT revoked_at IS NULL AND expires_at > $3::timestamptz AS lasts FROM sessions WHERE id = $1 AND user_id = $2",
  );
  const [row] = await query([sessionId, userId, now.toISOString()]);
  return row?.lasts ?? false;
}
