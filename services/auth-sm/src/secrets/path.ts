import { nameText, uidText, uuidText } from "@coffer/http";
import { z } from "zod";

/** A machine names a secret by its uid alone. */
export const secretPath = z.object({ uid: uidText });
export type SecretPath = z.infer<typeof secretPath>;

/** A person names a secret below its folder. */
export const folderSecretPath = z.object({ id: uuidText, uid: uidText });
export type FolderSecretPath = z.infer<typeof folderSecretPath>;

export const fieldPath = secretPath.extend({ field: nameText(128) });
export type FieldPath = z.infer<typeof fieldPath>;
