import { base64Text, cursorText, nameText, pageLimit, uuidText } from "@coffer/http";
import { z } from "zod";
import { entryText } from "@coffer/service";
import { vaultTypes } from "../store/vaults.ts";

/** The version of the vault's key that was sealed: another than the present one is refused. */
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

/** What is not sent stays as it is. */
export const vaultUpdate = z.object({
  name: nameText().optional(),
  safe_for_travel: z.boolean().optional(),
  /** Signs another name, where the vault has a history. */
  entry: entryText.optional(),
});
export type VaultUpdate = z.infer<typeof vaultUpdate>;
