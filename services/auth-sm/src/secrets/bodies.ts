import { recordTypes } from "@coffer/contract";
import {
  base64Text,
  cursorText,
  instantText,
  nameText,
  namedValues,
  pageLimit,
  timestampText,
  uidText,
  uuidText,
} from "@coffer/http";
import { z } from "zod";

const maxFields = 64;

const content = {
  encrypted_payload: base64Text(256),
  wrapped_dek: base64Text(64),
  title: nameText(256).optional(),
  title_encrypted: base64Text(64).optional(),
  fields: namedValues(nameText(128), base64Text(64), maxFields).optional(),
  key_version: z.int().positive().optional(),
  expires_at: instantText.nullable().optional(),
};

/** A new secret in a folder that the path names. */
export const newSecretInFolder = z.object({ ...content, uid: uidText.optional(), record_type: z.enum(recordTypes) });
/** A new secret in a folder that the body names (specification 4.1). */
export const newSecret = newSecretInFolder.extend({ folder_id: uuidText });
/**
 * A secret's new content: omitted `fields` are deleted, an omitted title or `expires_at` is not
 * changed.
 */
export const secretUpdate = z.object(content);

export type NewSecret = z.infer<typeof newSecret>;
export type SecretUpdate = z.infer<typeof secretUpdate>;

/** Filter and page of a folder's list. */
export const folderListQuery = z.object({
  record_type: z.enum(recordTypes).optional(),
  updated_since: timestampText.optional(),
  limit: pageLimit.optional(),
  cursor: cursorText.optional(),
});

/** `fields=true` adds the encrypted fields to one secret, which a rotation encrypts again. */
export const folderSecretQuery = z.object({ fields: z.enum(["true", "false"]).optional() });
export type FolderSecretQuery = z.infer<typeof folderSecretQuery>;

/** Filter and page of a machine's list, which can name one of its folders. */
export const listQuery = folderListQuery.extend({ folder_id: uuidText.optional() });
export type ListQuery = z.infer<typeof listQuery>;

export const searchQuery = listQuery.extend({ title: nameText(256) });
export type SearchQuery = z.infer<typeof searchQuery>;
