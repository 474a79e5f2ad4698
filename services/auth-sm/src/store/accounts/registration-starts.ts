import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** Stores the OPAQUE setup of a pending registration. Resets the count of attempts. */
export async function upsertRegistrationStart(
  db: Queryable,
  { starter, setupId, expiresAt }: { starter: Buffer; setupId: number; expiresAt: Date },
): Promise<void> {
  await db.query(sql.typeAlias("void")`
    INSERT INTO registration_starts (starter, opaque_setup_id, expires_at)
    VALUES (${sql.binary(starter)}, ${setupId}, ${expiresAt.toISOString()})
    ON CONFLICT (starter, opaque_setup_id) DO UPDATE SET expires_at = excluded.expires_at, attempts = 0
  `);
}

/**
 * The setups of this starter's pending registrations. Counts an attempt on each; after `most`
 * attempts a registration is no longer pending.
 */
export function takeStartedSetups(
  db: Queryable,
  { starter, most, now }: { starter: Buffer; most: number; now: Date },
): Promise<readonly number[]> {
  return db.anyFirst(sql.type(z.object({ id: z.number() }))`
    UPDATE registration_starts SET attempts = attempts + 1
    WHERE starter = ${sql.binary(starter)} AND expires_at > ${now.toISOString()}::timestamptz AND attempts < ${most}
    RETURNING opaque_setup_id AS id
  `);
}

export async function deleteRegistrationStarts(tx: Queryable, starter: Buffer): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM registration_starts WHERE starter = ${sql.binary(starter)}`);
}

/** Deletes up to `limit` expired registrations; returns how many. */
export async function deleteRegistrationStartsPast(
  db: Queryable,
  { now, limit }: { now: Date; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(sql.typeAlias("void")`
    DELETE FROM registration_starts WHERE (starter, opaque_setup_id) IN (
      SELECT starter, opaque_setup_id FROM registration_starts WHERE expires_at <= ${now.toISOString()}::timestamptz
      ORDER BY expires_at FOR UPDATE SKIP LOCKED LIMIT ${limit}
    )
  `);
  return rowCount;
}
