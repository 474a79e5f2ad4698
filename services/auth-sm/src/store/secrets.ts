import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { foldCase } from "../fold-case.ts";
import { recordTypes } from "../secrets/record-types.ts";

const receipt = z.object({
  uid: z.string(),
  folder_id: z.string(),
  record_type: z.enum(recordTypes),
  created_at: z.string(),
  updated_at: z.string(),
  version: z.number(),
  key_version: z.number(),
});
export type SecretReceiptRow = z.infer<typeof receipt>;

export const secretRow = receipt.extend({
  title: z.string().nullable(),
  title_encrypted: z.string(),
  encrypted_payload: z.string(),
  wrapped_dek: z.string(),
  field_names: z.array(z.string()),
});
export type SecretRow = z.infer<typeof secretRow>;

const receiptColumns = sql.fragment`uid, folder_id, record_type, created_at, updated_at, version, key_version`;
export const secretColumns = sql.fragment`${receiptColumns}, title, title_encrypted, encrypted_payload, wrapped_dek, field_names`;

/** What a client writes of a secret. `title` undefined leaves it as it is on an update, and absent on a creation. */
export interface SecretContent {
  encryptedPayload: string;
  wrappedDek: string;
  fields: Record<string, string>;
  title: string | undefined;
  titleEncrypted: string | undefined;
}

/** Inserts a secret; null when the organization has one with that uid. */
export function insertSecret(
  tx: Queryable,
  secret: SecretContent & {
    orgId: string;
    uid: string;
    folderId: string;
    recordType: string;
    keyVersion: number;
    now: Date;
  },
): Promise<SecretReceiptRow | null> {
  const now = secret.now.toISOString();
  return tx.maybeOne(sql.type(receipt)`
    INSERT INTO secrets (org_id, uid, folder_id, record_type, title, title_folded, title_encrypted, encrypted_payload,
      wrapped_dek, fields, field_names, key_version, version, created_at, updated_at)
    VALUES (${secret.orgId}, ${secret.uid}, ${secret.folderId}, ${secret.recordType}, ${secret.title ?? null},
      ${secret.title === undefined ? null : foldCase(secret.title)}, ${secret.titleEncrypted ?? ""},
      ${secret.encryptedPayload}, ${secret.wrappedDek}, ${JSON.stringify(secret.fields)}::jsonb,
      ${sql.array(Object.keys(secret.fields).sort(), "text")}, ${secret.keyVersion}, 1, ${now}::timestamptz,
      ${now}::timestamptz)
    ON CONFLICT ON CONSTRAINT secrets_uid_key DO NOTHING
    RETURNING ${receiptColumns}
  `);
}

/** The present version of a secret in the organization, locked against other writers; null when there is none. */
export function lockSecret(tx: Queryable, orgId: string, uid: string): Promise<SecretReceiptRow | null> {
  return tx.maybeOne(sql.type(receipt)`
    SELECT ${receiptColumns} FROM secrets WHERE org_id = ${orgId} AND uid = ${uid} FOR UPDATE
  `);
}

/** Where a secret is, without locking it; null when the organization has none with that uid. */
export function findSecretFolder(db: Queryable, orgId: string, uid: string): Promise<string | null> {
  return db.maybeOneFirst(sql.type(z.object({ folder_id: z.string() }))`
    SELECT folder_id FROM secrets WHERE org_id = ${orgId} AND uid = ${uid}
  `);
}

/**
 * Replaces a secret's content. `updated_at` only grows, whatever the clock does.
 * The caller has locked the row (`lockSecret`) in this transaction.
 */
export function replaceSecret(
  tx: Queryable,
  secret: SecretContent & { orgId: string; uid: string; keyVersion: number; now: Date },
): Promise<SecretReceiptRow> {
  return tx.one(sql.type(receipt)`
    UPDATE secrets SET
      encrypted_payload = ${secret.encryptedPayload},
      wrapped_dek = ${secret.wrappedDek},
      fields = ${JSON.stringify(secret.fields)}::jsonb,
      field_names = ${sql.array(Object.keys(secret.fields).sort(), "text")},
      title = coalesce(${secret.title ?? null}, title),
      title_folded = coalesce(${secret.title === undefined ? null : foldCase(secret.title)}, title_folded),
      title_encrypted = coalesce(${secret.titleEncrypted ?? null}, title_encrypted),
      key_version = ${secret.keyVersion},
      version = version + 1,
      updated_at = greatest(${secret.now.toISOString()}::timestamptz, updated_at + interval '1 microsecond')
    WHERE org_id = ${secret.orgId} AND uid = ${secret.uid}
    RETURNING ${receiptColumns}
  `);
}

/** Removes a secret for good; false when it is gone already. */
export async function deleteSecret(tx: Queryable, orgId: string, uid: string): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    DELETE FROM secrets WHERE org_id = ${orgId} AND uid = ${uid}
  `);
  return rowCount === 1;
}

/** One secret of a folder, or null. */
export function findSecretInFolder(db: Queryable, folderId: string, uid: string): Promise<SecretRow | null> {
  return db.maybeOne(sql.type(secretRow)`
    SELECT ${secretColumns}
    FROM secrets WHERE folder_id = ${folderId} AND uid = ${uid}
  `);
}

/** Which secrets of the granted folders are wanted; undefined means no condition. */
export interface SecretFilter {
  folderIds: readonly string[];
  recordType?: string | undefined;
  /** ISO 8601; secrets changed at or after it. */
  updatedSince?: string | undefined;
  limit?: number | undefined;
  after?: { createdAt: string; uid: string } | undefined;
}

/** The conditions of a filter, to be joined by AND. */
export function secretConditions(filter: Omit<SecretFilter, "after">) {
  return [
    sql.fragment`folder_id = ANY(${sql.array([...filter.folderIds], "uuid")})`,
    ...(filter.recordType === undefined ? [] : [sql.fragment`record_type = ${filter.recordType}`]),
    ...(filter.updatedSince === undefined ? [] : [sql.fragment`updated_at >= ${filter.updatedSince}::timestamptz`]),
  ];
}

/** Secrets in order of creation. */
export function listSecrets(db: Queryable, filter: SecretFilter): Promise<readonly SecretRow[]> {
  const { after, limit } = filter;
  const conditions = [
    ...secretConditions(filter),
    ...(after === undefined ? [] : [sql.fragment`(created_at, uid) > (${after.createdAt}::timestamptz, ${after.uid})`]),
  ];
  return db.any(sql.type(secretRow)`
    SELECT ${secretColumns}
    FROM secrets WHERE ${sql.join(conditions, sql.fragment` AND `)}
    ORDER BY created_at, uid
    ${limit === undefined ? sql.fragment`` : sql.fragment`LIMIT ${limit}`}
  `);
}
