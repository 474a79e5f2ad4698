import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { type NextKey, resealFrom, type ResealedSecret, sentSecrets } from "../folders/folder-rotation.ts";

/** The secrets that one person stages for one rotation of a folder. */
export interface Staging {
  folderId: string;
  userId: string;
  rotationId: string;
}

/** Stages secrets; replaces staged secrets of the same uids. */
export async function stageSecrets(
  tx: Queryable,
  { folderId, userId, rotationId }: Staging,
  secrets: readonly ResealedSecret[],
  now: Date,
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO staged_secrets (folder_id, user_id, rotation_id, uid, version, encrypted_payload, wrapped_dek,
      title_encrypted, fields, staged_at)
    SELECT ${folderId}::uuid, ${userId}::uuid, ${rotationId}::uuid, uid, version, encrypted_payload, wrapped_dek,
      title_encrypted, fields, ${now.toISOString()}::timestamptz
    FROM ${sentSecrets(secrets)}
    ON CONFLICT (folder_id, user_id, rotation_id, uid) DO UPDATE SET version = excluded.version,
      encrypted_payload = excluded.encrypted_payload, wrapped_dek = excluded.wrapped_dek,
      title_encrypted = excluded.title_encrypted, fields = excluded.fields, staged_at = excluded.staged_at
  `);
}

export function countStaged(db: Queryable, { folderId, userId, rotationId }: Staging): Promise<number> {
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) AS count FROM staged_secrets
    WHERE folder_id = ${folderId} AND user_id = ${userId} AND rotation_id = ${rotationId}
  `);
}

/** Drops the secrets that the person has staged for other rotations of the folder. */
export async function dropOtherStaged(tx: Queryable, { folderId, userId, rotationId }: Staging): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    DELETE FROM staged_secrets
    WHERE folder_id = ${folderId} AND user_id = ${userId} AND rotation_id <> ${rotationId}
  `);
}

/** Drops all staged secrets of a folder: after a rotation no secret is in its staged version. */
export async function dropStagedSecrets(tx: Queryable, folderId: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM staged_secrets WHERE folder_id = ${folderId}`);
}

/** Drops at most `limit` secrets that were staged before a time. Returns how many. */
export async function dropStagedBefore(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(sql.typeAlias("void")`
    DELETE FROM staged_secrets WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM staged_secrets WHERE staged_at < ${before.toISOString()}::timestamptz LIMIT ${limit}
    ))
  `);
  return rowCount;
}

/** Replaces unchanged secrets by the staged ones; returns how many. */
export function resealFromStaged(
  tx: Queryable,
  next: NextKey,
  { userId, rotationId }: Omit<Staging, "folderId">,
): Promise<number> {
  return resealFrom(
    tx,
    next,
    sql.fragment`(
      SELECT uid, version, encrypted_payload, wrapped_dek, title_encrypted, fields FROM staged_secrets
      WHERE folder_id = ${next.folderId} AND user_id = ${userId} AND rotation_id = ${rotationId}
    ) AS sent`,
  );
}
