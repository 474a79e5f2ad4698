import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** The sealed secret of a person's second factor; null when it is off. */
export function findTotpSecret(db: Queryable, userId: string): Promise<Buffer | null> {
  return db.maybeOneFirst(sql.type(z.object({ sealed_secret: z.instanceof(Buffer) }))`
    SELECT sealed_secret FROM totp WHERE user_id = ${userId} AND sealed_secret IS NOT NULL
  `);
}

/** How many codes of a person may be wrong, in which time, and how long each one after them is waited for. */
export interface CodeLimit {
  most: number;
  windowSeconds: number;
  waitSeconds: number;
}

const waitingTotp = z.object({ wait_seconds: z.number() });

/**
 * Counts a code as a wrong one before anybody looks at it; those of one person wait for each other. `spendTotpStep` takes
 * the right one back.
 * @returns 0, or for how many seconds no code is looked at: then nothing is counted
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
  // One that was first has used up what there was meanwhile.
  return counted.rowCount === 1 ? 0 : waitSeconds;
}

/** Spends a time step, for a code that was counted as wrong; false when it, or a later one, was spent before. */
export async function spendTotpStep(tx: Queryable, userId: string, step: number): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    UPDATE totp SET last_step = ${step}, wrong_codes = wrong_codes - 1, codes_after = NULL
    WHERE user_id = ${userId} AND last_step < ${step}
  `);
  return rowCount === 1;
}

/** Puts a secret in the place of any that waits to be verified. What is on stays on. */
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

/** Counts an attempt to verify the secret that waits, and returns it; null when none waits or it was tried too often. */
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

/** Puts the secret that waits into use, its step spent, with these recovery codes and no others. */
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

/** Takes the second factor away, with what waits to be verified; false when it was off. */
export async function deleteTotp(tx: Queryable, userId: string): Promise<boolean> {
  await tx.query(sql.typeAlias("void")`DELETE FROM totp_recovery_codes WHERE user_id = ${userId}`);
  const wasOn = await tx.maybeOneFirst(sql.type(z.object({ was_on: z.boolean() }))`
    DELETE FROM totp WHERE user_id = ${userId} RETURNING sealed_secret IS NOT NULL AS was_on
  `);
  return wasOn ?? false;
}

/** Spends a recovery code; false when there is none like it, or no longer. */
export async function deleteRecoveryCode(tx: Queryable, userId: string, codeHash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    DELETE FROM totp_recovery_codes WHERE user_id = ${userId} AND code_hash = ${sql.binary(codeHash)}
  `);
  return rowCount === 1;
}
