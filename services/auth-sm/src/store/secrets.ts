import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
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

/** One secret of a folder without its content, or null. */
export function findReceiptInFolder(db: Queryable, folderId: string, uid: string): Promise<SecretReceiptRow | null> {
  return db.maybeOne(sql.type(receipt)`
    SELECT ${receiptColumns} FROM secrets WHERE folder_id = ${folderId} AND uid = ${uid}
  `);
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
