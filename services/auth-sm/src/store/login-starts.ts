import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** Where a call came from, as its audit record will say. */
export interface LoginSource {
  ip: string;
  userAgent: string | null;
  requestId: string;
}

/** Keeps the server's half of a login that has started. `userId` is null for an e-mail that nobody has. */
export async function insertLoginStart(
  db: Queryable,
  start: { id: string; userId: string | null; serverState: string; source: LoginSource; expiresAt: Date },
): Promise<void> {
  const { ip, userAgent, requestId } = start.source;
  await db.query(sql.typeAlias("void")`
    INSERT INTO login_starts (id, user_id, server_state, ip, user_agent, request_id, expires_at)
    VALUES (${start.id}, ${start.userId}, ${start.serverState}, ${ip}, ${userAgent}, ${requestId},
      ${start.expiresAt.toISOString()})
  `);
}

const openStart = z.object({ user_id: z.string().nullable(), server_state: z.string() });

/**
 * A start that may still be finished, locked: a second finish waits, and then finds it spent. Null when there is none.
 * `user_id` is null when nobody has the e-mail, or no longer.
 */
export function lockLoginStart(tx: Queryable, id: string, now: Date): Promise<z.infer<typeof openStart> | null> {
  return tx.maybeOne(sql.type(openStart)`
    SELECT u.id AS user_id, s.server_state
    FROM login_starts s LEFT JOIN users u ON u.id = s.user_id
    WHERE s.id = ${id} AND s.refused_at IS NULL AND s.expires_at > ${now.toISOString()}::timestamptz
    FOR UPDATE OF s
  `);
}

/** Takes a locked start away, because its login succeeded. */
export async function deleteLoginStart(tx: Queryable, id: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM login_starts WHERE id = ${id}`);
}

/** Marks a locked start as wrongly finished, by a call from `source`: it can be finished no more. */
export async function refuseLoginStart(tx: Queryable, id: string, source: LoginSource, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE login_starts SET refused_at = ${now.toISOString()}, expires_at = ${now.toISOString()}, server_state = '',
      ip = ${source.ip}, user_agent = ${source.userAgent}, request_id = ${source.requestId}
    WHERE id = ${id}
  `);
}

const failedStart = z.object({
  id: z.string(),
  user_id: z.string().nullable(),
  ip: z.string(),
  user_agent: z.string().nullable(),
  request_id: z.string(),
  expires_at: z.string(),
  refused: z.boolean(),
});
/** A start that came to nothing: refused, or not finished in time. `expires_at` is the moment of its failure. */
export type FailedLoginStart = z.infer<typeof failedStart>;

/** Takes away up to `limit` starts that have failed; what another replica is taking stays with that one. */
export function takeFailedLoginStarts(
  tx: Queryable,
  { now, limit }: { now: Date; limit: number },
): Promise<readonly FailedLoginStart[]> {
  return tx.any(sql.type(failedStart)`
    DELETE FROM login_starts WHERE id IN (
      SELECT id FROM login_starts WHERE expires_at <= ${now.toISOString()}::timestamptz
      ORDER BY expires_at FOR UPDATE SKIP LOCKED LIMIT ${limit}
    )
    RETURNING id, user_id, host(ip) AS ip, user_agent, request_id, expires_at, refused_at IS NOT NULL AS refused
  `);
}
