import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** The request of a login, as its audit record needs it. */
export interface LoginCall {
  ip: string;
  userAgent: string | null;
  requestId: string;
  method: string;
  route: string;
  /** The status of the response. */
  status: number;
}

/** A login starts with an OPAQUE answer, a recovery with the recovery key. */
export type LoginKind = "login" | "recovery";

export interface NewLoginStart {
  id: string;
  kind: LoginKind;
  /** The MAC of the e-mail, by which starts are counted. */
  account: Buffer;
  /** Null for an unknown e-mail. */
  userId: string | null;
  /** The version of the password at the start. */
  passwordVersion: number | null;
  /** For a recovery: the setup of its new record. */
  setupId: number | null;
  /** The hash of the device's credential, if the device is known. */
  deviceHash: Buffer | null;
  serverState: string;
  call: LoginCall;
  expiresAt: Date;
  /** Set for a start that has failed already. */
  refusedAt: Date | null;
}

export async function insertLoginStart(db: Queryable, start: NewLoginStart): Promise<void> {
  const { call } = start;
  await db.query(sql.typeAlias("void")`
    INSERT INTO login_starts (id, kind, account, user_id, password_version, opaque_setup_id, server_state, ip, user_agent,
      request_id, method, route, status, expires_at, refused_at, device_hash)
    VALUES (${start.id}, ${start.kind}, ${sql.binary(start.account)}, ${start.userId}, ${start.passwordVersion},
      ${start.setupId}, ${start.serverState}, ${call.ip}, ${call.userAgent}, ${call.requestId}, ${call.method},
      ${call.route}, ${call.status}, ${start.expiresAt.toISOString()}, ${start.refusedAt?.toISOString() ?? null},
      ${start.deviceHash === null ? null : sql.binary(start.deviceHash)})
  `);
}

const openStart = z.object({
  account: z.instanceof(Buffer),
  user_id: z.string().nullable(),
  password_version: z.number().nullable(),
  opaque_setup_id: z.number().nullable(),
  server_state: z.string(),
  attempts: z.number(),
  device_hash: z.instanceof(Buffer).nullable(),
});
/** A start that can still be finished. `attempts` includes the current one. */
export type OpenLoginStart = z.infer<typeof openStart>;

/**
 * Counts an attempt to finish a start and locks it: a concurrent attempt waits and then sees the
 * result. Null when no such start can be finished.
 */
export function takeLoginStart(
  tx: Queryable,
  { id, kind, now }: { id: string; kind: LoginKind; now: Date },
): Promise<OpenLoginStart | null> {
  return tx.maybeOne(sql.type(openStart)`
    UPDATE login_starts SET attempts = attempts + 1
    WHERE id = ${id} AND kind = ${kind} AND refused_at IS NULL AND expires_at > ${now.toISOString()}::timestamptz
    RETURNING account, user_id, password_version, opaque_setup_id, server_state, attempts,
      device_hash
  `);
}

export async function deleteLoginStart(tx: Queryable, id: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM login_starts WHERE id = ${id}`);
}

/** Stores the failure of a locked start, which can no longer be finished. */
export async function refuseLoginStart(
  tx: Queryable,
  id: string,
  { call, now, proven }: { call: LoginCall; now: Date; proven: boolean },
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE login_starts SET refused_at = ${now.toISOString()}, expires_at = ${now.toISOString()}, server_state = '',
      proven = ${proven}, ip = ${call.ip}, user_agent = ${call.userAgent}, request_id = ${call.requestId},
      method = ${call.method}, route = ${call.route}, status = ${call.status}
    WHERE id = ${id}
  `);
}

/** Stores that a locked start lacks only the second factor. It can be finished until it expires. */
export async function storeProvenLoginStart(tx: Queryable, id: string, call: LoginCall): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE login_starts SET proven = true, ip = ${call.ip}, user_agent = ${call.userAgent},
      request_id = ${call.requestId}, method = ${call.method}, route = ${call.route}, status = ${call.status}
    WHERE id = ${id}
  `);
}

const failedStart = z.object({
  id: z.string(),
  user_id: z.string().nullable(),
  ip: z.string(),
  user_agent: z.string().nullable(),
  request_id: z.string(),
  method: z.string(),
  route: z.string(),
  status: z.number(),
  expires_at: z.string(),
  refused: z.boolean(),
  proven: z.boolean(),
});
/**
 * A start that failed: refused, or not finished in time. `expires_at` is the time of the failure.
 */
export type FailedLoginStart = z.infer<typeof failedStart>;

/**
 * Deletes and returns up to `limit` failed starts, skipping those that another replica has locked.
 */
export function takeFailedLoginStarts(
  tx: Queryable,
  { now, limit }: { now: Date; limit: number },
): Promise<readonly FailedLoginStart[]> {
  return tx.any(sql.type(failedStart)`
    DELETE FROM login_starts WHERE id IN (
      SELECT id FROM login_starts WHERE expires_at <= ${now.toISOString()}::timestamptz
      ORDER BY expires_at FOR UPDATE SKIP LOCKED LIMIT ${limit}
    )
    RETURNING id, user_id, host(ip) AS ip, user_agent, request_id, method, route, status, expires_at,
      refused_at IS NOT NULL AS refused, proven
  `);
}
