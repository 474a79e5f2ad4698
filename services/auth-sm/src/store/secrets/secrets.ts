import { recordTypes } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

const receipt = z.object({
  uid: z.string(),
  folder_id: z.string(),
  record_type: z.enum(recordTypes),
  created_at: z.string(),
  updated_at: z.string(),
  version: z.number(),
  key_version: z.number(),
  /** From this moment on machines do not have the secret; null for never. */
  expires_at: z.string().nullable(),
});
export type SecretReceiptRow = z.infer<typeof receipt>;

/** Drops the other columns of a row. */
export function receiptOf(row: SecretReceiptRow): SecretReceiptRow {
  const { uid, folder_id, record_type, created_at, updated_at, version, key_version, expires_at } = row;
  return { uid, folder_id, record_type, created_at, updated_at, version, key_version, expires_at };
}

export const secretRow = receipt.extend({
  title: z.string().nullable(),
  title_encrypted: z.string(),
  encrypted_payload: z.string(),
  wrapped_dek: z.string(),
  field_names: z.array(z.string()),
});
export type SecretRow = z.infer<typeof secretRow>;

const receiptColumns = sql.fragment`
  uid, folder_id, record_type, created_at, updated_at, version, key_version, expires_at
`;
export const secretColumns = sql.fragment`${receiptColumns}, title, title_encrypted, encrypted_payload, wrapped_dek, field_names`;

/** One secret of a folder without its content, or null. */
export function findReceiptInFolder(db: Queryable, folderId: string, uid: string): Promise<SecretReceiptRow | null> {
  return db.maybeOne(sql.type(receipt)`
    SELECT ${receiptColumns} FROM secrets WHERE folder_id = ${folderId} AND uid = ${uid}
  `);
}
