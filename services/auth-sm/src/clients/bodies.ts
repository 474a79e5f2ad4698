import { uuidText } from "@coffer/http";
import { z } from "zod";
import { entryText, sealedKeyText } from "@coffer/service";
import { keyVersion } from "../folders/bodies.ts";

export const clientPath = z.object({ id: uuidText, client_id: uuidText });
export type ClientPath = z.infer<typeof clientPath>;

export const grantPath = clientPath.extend({ folder_id: uuidText });
export type GrantPath = z.infer<typeof grantPath>;

/** `encrypted_key` is the folder's key, encrypted to the client's public key. */
export const grantBody = z.object({
  permission: z.enum(["read", "write"]),
  encrypted_key: sealedKeyText,
  key_version: keyVersion.optional(),
  entry: entryText.optional(),
});
export type GrantBody = z.infer<typeof grantBody>;
