import { base64Text, cursorText, nameText, pageLimit, uuidText } from "@coffer/http";
import { z } from "zod";
import { entryText } from "@coffer/service";
import { vaultTypes } from "../store/vaults/vaults.ts";

/** The version of the vault's key that was sealed: must be the present one. */
export const keyVersion = z.int().positive();

export const newVault = z.object({
  id: uuidText.optional(),
  name: nameText(),
  type: z.enum(vaultTypes),
  /** The vault's key under the creator's user key. */
  encrypted_key: base64Text(64),
  key_version: keyVersion.optional(),
  /** The first entry of the history of a shared vault. */
  entry: entryText.optional(),
});
export type NewVault = z.infer<typeof newVault>;

export const vaultListQuery = z.object({ limit: pageLimit.optional(), cursor: cursorText.optional() });
export type VaultListQuery = z.infer<typeof vaultListQuery>;

export const vaultPath = z.object({ id: uuidText });
export type VaultPath = z.infer<typeof vaultPath>;

export const vaultUpdate = z.object({
  name: nameText().optional(),
  safe_for_travel: z.boolean().optional(),
  /** Signs a new name, if the vault has a history. */
  entry: entryText.optional(),
});
export type VaultUpdate = z.infer<typeof vaultUpdate>;
