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

/** The receipt without what else is in a row. */
export function receiptOf(row: SecretReceiptRow): SecretReceiptRow {
  const { uid, folder_id, record_type, created_at, updated_at, version, key_version } = row;
  return { uid, folder_id, record_type, created_at, updated_at, version, key_version };
}

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
