import { type Fragment, type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

// The writes of a rotation, one statement per table. The caller has locked the vault exclusively.

/** A record sealed with the next key of its vault. */
export interface ResealedRecord {
  id: string;
  /** The `updated_at` of the record that was sealed. */
  updated_at: string;
  encrypted_data: string;
}

const count = z.object({ count: z.number() });

/** A rotation under way. Another person's with the same id, which clients choose, is not this one. */
export interface StagedRotation {
  vaultId: string;
  rotationId: string;
  userId: string;
}

/** Stages records for a rotation; replaces its staged records of the same ids. */
export async function stageRecords(
  tx: Queryable,
  staged: StagedRotation & { now: Date },
  records: readonly ResealedRecord[],
): Promise<void> {
  const rows = records.map(({ id, updated_at, encrypted_data }) => [id, updated_at, encrypted_data]);
  await tx.query(sql.typeAlias("void")`
    INSERT INTO staged_records (vault_id, rotation_id, user_id, id, sealed_at, encrypted_data, staged_at)
    SELECT ${staged.vaultId}::uuid, ${staged.rotationId}::uuid, ${staged.userId}::uuid, id, sealed_at, encrypted_data,
      ${staged.now.toISOString()}::timestamptz
    FROM ${sql.unnest(rows, ["uuid", "timestamptz", "text"])} AS sent (id, sealed_at, encrypted_data)
    ON CONFLICT (vault_id, rotation_id, id)
      DO UPDATE SET sealed_at = excluded.sealed_at, encrypted_data = excluded.encrypted_data, staged_at = excluded.staged_at
      WHERE staged_records.user_id = excluded.user_id
  `);
}

const isStaged = ({ vaultId, rotationId, userId }: StagedRotation): Fragment =>
  sql.fragment`vault_id = ${vaultId} AND rotation_id = ${rotationId} AND user_id = ${userId}`;

export function countStaged(db: Queryable, rotation: StagedRotation): Promise<number> {
  return db.oneFirst(sql.type(count)`SELECT count(*) FROM staged_records WHERE ${isStaged(rotation)}`);
}

/** The number of these records that have not changed since they were sealed. */
export function countUnchanged(db: Queryable, vaultId: string, records: readonly ResealedRecord[]): Promise<number> {
  const rows = records.map(({ id, updated_at }) => [id, updated_at]);
  return db.oneFirst(sql.type(count)`
    SELECT count(*) FROM records r
    JOIN ${sql.unnest(rows, ["uuid", "timestamptz"])} AS sent (id, updated_at) USING (id, updated_at)
    WHERE r.vault_id = ${vaultId}
  `);
}

/** Drops the records that a person staged for other rotations of a vault. */
export async function dropOtherStaged(tx: Queryable, { vaultId, rotationId, userId }: StagedRotation): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    DELETE FROM staged_records WHERE vault_id = ${vaultId} AND user_id = ${userId} AND rotation_id <> ${rotationId}
  `);
}

export async function dropStaged(tx: Queryable, vaultId: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM staged_records WHERE vault_id = ${vaultId}`);
}

/** Drops at most `limit` records that were staged before a time. Returns how many. */
export async function dropStagedBefore(tx: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    DELETE FROM staged_records WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM staged_records WHERE staged_at < ${before.toISOString()}::timestamptz LIMIT ${limit}
    ))
  `);
  return rowCount;
}

/** Replaces unchanged records by those of the request. Returns how many. */
export function resealRecords(
  tx: Queryable,
  vaultId: string,
  records: readonly ResealedRecord[],
  now: Date,
): Promise<number> {
  const rows = records.map(({ id, updated_at, encrypted_data }) => [id, updated_at, encrypted_data]);
  const source = sql.fragment`${sql.unnest(rows, ["uuid", "timestamptz", "text"])} AS sealed (id, sealed_at, encrypted_data)`;
  return reseal(tx, vaultId, source, now);
}

/** Replaces unchanged records by the staged ones. Returns how many. */
export function resealFromStaged(tx: Queryable, rotation: StagedRotation, now: Date): Promise<number> {
  const source = sql.fragment`(
    SELECT id, sealed_at, encrypted_data FROM staged_records WHERE ${isStaged(rotation)}
  ) AS sealed`;
  return reseal(tx, rotation.vaultId, source, now);
}

async function reseal(tx: Queryable, vaultId: string, source: Fragment, now: Date): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    UPDATE records r SET encrypted_data = sealed.encrypted_data, x = pg_current_xact_id(),
      updated_at = greatest(${now.toISOString()}::timestamptz, r.updated_at + interval '1 microsecond')
    FROM ${source}
    WHERE r.vault_id = ${vaultId} AND r.id = sealed.id AND r.updated_at = sealed.sealed_at
  `);
  return rowCount;
}

/** The vault's key, sealed for a member; null if it may not be sealed for the person. */
export interface MemberKey {
  user_id: string;
  encrypted_key: string | null;
}

/** Stores the next key of each member and the key version. Returns how many members matched. */
export async function replaceKeys(
  tx: Queryable,
  { vaultId, keyVersion }: { vaultId: string; keyVersion: number },
  keys: readonly MemberKey[],
): Promise<number> {
  const rows = keys.map(({ user_id, encrypted_key }) => [user_id, encrypted_key]);
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    UPDATE vault_members m SET encrypted_key = sent.encrypted_key, key_version = ${keyVersion}
    FROM ${sql.unnest(rows, ["uuid", "text"])} AS sent (user_id, encrypted_key)
    WHERE m.vault_id = ${vaultId} AND m.user_id = sent.user_id
  `);
  await tx.query(sql.typeAlias("void")`UPDATE vaults SET key_version = ${keyVersion} WHERE id = ${vaultId}`);
  return rowCount;
}
