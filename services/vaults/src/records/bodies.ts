import { base64Text, cursorText, pageLimit, timestampText, uuidText } from "@coffer/http";
import { z } from "zod";
import { keyVersion, vaultPath } from "../vaults/bodies.ts";

/** The type of a record: the service stores it and does not interpret it. */
const recordType = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, "must match ^[a-z][a-z0-9_]{0,31}$");

export const recordContent = z.object({
  type: recordType,
  encrypted_data: base64Text(256),
  key_version: keyVersion.optional(),
});
export type RecordContent = z.infer<typeof recordContent>;

/** Clients that bind the ciphertext to the id make the id. */
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

/** Items are validated one by one. */
export const importBody = z.object({ records: z.array(z.unknown()), key_version: keyVersion.optional() });
export type ImportBody = z.infer<typeof importBody>;
