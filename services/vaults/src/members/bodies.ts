import { permissions } from "@coffer/contract";
import { cursorText, pageLimit, uuidText } from "@coffer/http";
import { z } from "zod";
import { entryText, sealedKeyText } from "@coffer/service";
import { keyVersion, vaultPath } from "../vaults/bodies.ts";

export const vaultMemberPath = vaultPath.extend({ user_id: uuidText });
export type VaultMemberPath = z.infer<typeof vaultMemberPath>;

export const vaultMemberListQuery = z.object({ limit: pageLimit.optional(), cursor: cursorText.optional() });
export type VaultMemberListQuery = z.infer<typeof vaultMemberListQuery>;

/** `encrypted_key` is the vault's key, sealed to the person's public key. */
export const vaultMember = z.object({
  permission: z.enum(permissions),
  encrypted_key: sealedKeyText,
  key_version: keyVersion.optional(),
  entry: entryText.optional(),
});
export type VaultMemberBody = z.infer<typeof vaultMember>;
