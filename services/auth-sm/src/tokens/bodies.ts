import { listOf, nameText, sha256Text, timestampText, uuidText } from "@coffer/http";
import { z } from "zod";
import { keyVersion } from "../folders/bodies.ts";
import { boxedKeyText, entryText } from "@coffer/service";
import { cidrText } from "./cidr.ts";

/** A token's grant on a folder, with the folder's key encrypted with the token's wrap key. */
const tokenFolder = z.object({
  folder_id: uuidText,
  permission: z.enum(["read", "write"]),
  encrypted_folder_key: boxedKeyText.optional(),
  key_version: keyVersion.optional(),
  entry: entryText.optional(),
});

/**
 * The folders of a token. Issuing and spending it take time for each, about fifteen times as much
 * with an entry. A machine that needs more gets further grants later.
 */
const mostFolders = 500;
const mostEntries = 100;

export const newToken = z.object({
  name: nameText(),
  token_hash: sha256Text.optional(),
  folders: listOf(tokenFolder, mostFolders)
    .refine(
      (folders) => new Set(folders.map(({ folder_id }) => folder_id)).size === folders.length,
      "names a folder twice",
    )
    .refine(
      (folders) => folders.filter(({ entry }) => entry !== undefined).length <= mostEntries,
      `must have at most ${mostEntries} items with an entry`,
    ),
  expires_at: timestampText.optional(),
  client_expires_at: timestampText.optional(),
  allowed_cidrs: listOf(cidrText, 64)
    .refine((cidrs) => cidrs.length > 0, "must have at least one")
    .optional(),
});
export type NewToken = z.infer<typeof newToken>;

export const tokenPath = z.object({ id: uuidText, token_id: uuidText });
export type TokenPath = z.infer<typeof tokenPath>;
