import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** The encrypted secret of a person's second factor; null when it is off. */
export function findTotpSecret(db: Queryable, userId: string): Promise<Buffer | null> {
  return db.maybeOneFirst(sql.type(z.object({ sealed_secret: z.instanceof(Buffer) }))`
    SELECT sealed_secret FROM totp WHERE user_id = ${userId} AND sealed_secret IS NOT NULL
  `);
}

/** How many wrong codes a person may send in a window, and the wait before each further one. */
export interface CodeLimit {
  most: number;
  windowSeconds: number;
  waitSeconds: number;
}

const waitingTotp = z.object({ wait_seconds: z.number() });

/**
 * Counts a code as wrong before it is checked, under the lock of the person's row. `spendTotpStep`
 * uncounts a right one.
 * @returns 0, or for how many seconds no code is checked; then nothing is counted
 */
export async function countCode(
  tx: Queryable,
  { userId, now }: { userId: string; now: Date },
  { most, windowSeconds, waitSeconds }: CodeLimit,
): Promise<number> {
  const at = sql.fragment`${now.toISOString()}::timestamptz`;
  const wait = await tx.maybeOneFirst(sql.type(waitingTotp)`
    SELECT greatest(0, extract(epoch FROM codes_after - ${at}))::float8 AS wait_seconds
    FROM totp WHERE user_id = ${userId} AND codes_after IS NOT NULL FOR UPDATE
  `);
  if (wait !== null && wait > 0) return Math.ceil(wait);
  const isFresh = sql.fragment`coalesce(wrong_since > ${at} - make_interval(secs => ${windowSeconds}), false)`;
  const count = sql.fragment`CASE WHEN ${isFresh} THEN wrong_codes + 1 ELSE 1 END`;
  const counted = await tx.query(sql.typeAlias("void")`
    UPDATE totp SET wrong_codes = ${count},
      wrong_since = CASE WHEN ${isFresh} THEN wrong_since ELSE ${at} END,
      codes_after = CASE WHEN ${count} >= ${most} THEN ${at} + make_interval(secs => ${waitSeconds}) END
    WHERE user_id = ${userId} AND (codes_after IS NULL OR codes_after <= ${at})
  `);
  // A concurrent code has used the last attempt.
  return counted.rowCount === 1 ? 0 : waitSeconds;
}

/**
 * Consumes the time step of a code that was counted as wrong. False when this or a later step was
 * consumed before.
 */
export async function spendTotpStep(tx: Queryable, userId: string, step: number): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    UPDATE totp SET last_step = ${step}, wrong_codes = wrong_codes - 1, codes_after = NULL
    WHERE user_id = ${userId} AND last_step < ${step}
  `);
  return rowCount === 1;
}

/**
 * Stores a secret to be verified and replaces an earlier one. An active second factor stays active.
 */
export async function upsertPendingTotp(
  tx: Queryable,
  pending: { userId: string; sealedSecret: Buffer; sessionId: string; until: Date },
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO totp (user_id, pending_secret, pending_session_id, pending_until)
    VALUES (${pending.userId}, ${sql.binary(pending.sealedSecret)}, ${pending.sessionId}, ${pending.until.toISOString()})
    ON CONFLICT (user_id) DO UPDATE SET pending_secret = excluded.pending_secret,
      pending_session_id = excluded.pending_session_id, pending_until = excluded.pending_until, pending_attempts = 0
  `);
}

/**
 * Counts an attempt to verify the pending secret and returns it; null when there is none or the
 * attempts are used up.
 */
export function takePendingTotp(
  tx: Queryable,
  { userId, sessionId, most, now }: { userId: string; sessionId: string; most: number; now: Date },
): Promise<Buffer | null> {
  return tx.maybeOneFirst(sql.type(z.object({ pending_secret: z.instanceof(Buffer) }))`
    UPDATE totp SET pending_attempts = pending_attempts + 1
    WHERE user_id = ${userId} AND pending_session_id = ${sessionId} AND pending_secret IS NOT NULL
      AND pending_attempts < ${most} AND pending_until > ${now.toISOString()}::timestamptz
    RETURNING pending_secret
  `);
}

/** Activates the pending secret, its step consumed, with these recovery codes only. */
export async function enableTotp(
  tx: Queryable,
  { userId, step, codeHashes }: { userId: string; step: number; codeHashes: readonly Buffer[] },
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE totp SET sealed_secret = pending_secret, last_step = ${step}, pending_secret = NULL,
      pending_session_id = NULL, pending_until = NULL
    WHERE user_id = ${userId}
  `);
  await tx.query(sql.typeAlias("void")`DELETE FROM totp_recovery_codes WHERE user_id = ${userId}`);
  await tx.query(sql.typeAlias("void")`
    INSERT INTO totp_recovery_codes (user_id, code_hash)
    SELECT ${userId}, code_hash FROM unnest(${sql.array([...codeHashes], "bytea")}) AS code (code_hash)
  `);
}

/** Deletes the second factor and the pending secret; false when the second factor was off. */
export async function deleteTotp(tx: Queryable, userId: string): Promise<boolean> {
  await tx.query(sql.typeAlias("void")`DELETE FROM totp_recovery_codes WHERE user_id = ${userId}`);
  const wasOn = await tx.maybeOneFirst(sql.type(z.object({ was_on: z.boolean() }))`
    DELETE FROM totp WHERE user_id = ${userId} RETURNING sealed_secret IS NOT NULL AS was_on
  `);
  return wasOn ?? false;
}

/** Consumes a recovery code; false when there is no such code. */
export async function deleteRecoveryCode(tx: Queryable, userId: string, codeHash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    DELETE FROM totp_recovery_codes WHERE user_id = ${userId} AND code_hash = ${sql.binary(codeHash)}
  `);
  return rowCount === 1;
}
