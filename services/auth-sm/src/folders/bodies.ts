import { permissions } from "@coffer/contract";
import { nameText, uuidText } from "@coffer/http";
import { z } from "zod";
import { boxedKeyText, entryText, sealedKeyText } from "@coffer/service";

/** The version of the folder key that was used. Any version but the current one is refused. */
export const keyVersion = z.int().positive();

export const newFolder = z.object({
  id: uuidText.optional(),
  name: nameText(),
  /** The folder's key, encrypted with the creator's user key. */
  encrypted_key: boxedKeyText,
  key_version: keyVersion.optional(),
  entry: entryText.optional(),
});
export type NewFolder = z.infer<typeof newFolder>;

export const folderName = z.object({ name: nameText(), entry: entryText.optional() });
export type FolderName = z.infer<typeof folderName>;

export const folderPath = z.object({ id: uuidText });
export type FolderPath = z.infer<typeof folderPath>;

export const folderRemoval = z.object({ force: z.enum(["true", "false"]).optional() });
export type FolderRemoval = z.infer<typeof folderRemoval>;

export const folderMemberPath = folderPath.extend({ user_id: uuidText });
export type FolderMemberPath = z.infer<typeof folderMemberPath>;

/** `encrypted_key` is the folder's key, encrypted to the person's public key. */
export const folderMember = z.object({
  permission: z.enum(permissions),
  encrypted_key: sealedKeyText,
  key_version: keyVersion.optional(),
  entry: entryText.optional(),
});
export type FolderMember = z.infer<typeof folderMember>;
