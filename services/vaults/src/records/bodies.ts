import { base64Text, cursorText, pageLimit, timestampText, uuidText } from "@coffer/http";
import { z } from "zod";
import { keyVersion, vaultPath } from "../vaults/bodies.ts";

/** What a record is: a word that the service keeps and gives no meaning. */
const recordType = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, "must match ^[a-z][a-z0-9_]{0,31}$");

/** What replaces a record's content. */
export const recordContent = z.object({
  type: recordType,
  encrypted_data: base64Text(256),
  key_version: keyVersion.optional(),
});
export type RecordContent = z.infer<typeof recordContent>;

/** The id is made by clients that bind the ciphertext to it. */
export const newRecord = recordContent.extend({ id: uuidText.optional() });
export type NewRecord = z.infer<typeof newRecord>;

export const recordPath = vaultPath.extend({ rid: uuidText });
export type RecordPath = z.infer<typeof recordPath>;

export const recordListQuery = z.object({
  type: recordType.optional(),
  updated_since: timestampText.optional(),
  limit: pageLimit.optional(),
  cursor: cursorText.optional(),
});
export type RecordListQuery = z.infer<typeof recordListQuery>;

/** Each item is looked at by itself. */
export const importBody = z.object({ records: z.array(z.unknown()), key_version: keyVersion.optional() });
export type ImportBody = z.infer<typeof importBody>;
