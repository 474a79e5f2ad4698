import { CofferError } from "../errors.ts";
import { foldersFor } from "../folders/fresh-folders.ts";
import { openSecret, type Secret } from "./sealed-secret.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";

/** A secret by its uid, from the service. Throws CofferError. */
export async function secretByUid(store: SecretStore, uid: string): Promise<Secret> {
  const view = await store.one(uid);
  return openSecret(view, folderById(await foldersFor(store, [view]), view.folder_id));
}

/** Throws CofferError `access_denied` for a folder that is not among them. */
export function folderById(folders: readonly OpenFolder[], id: string | undefined): OpenFolder {
  const folder = folders.find((one) => one.id === id);
  if (folder === undefined) throw new CofferError("access_denied", "access to a folder was taken away meanwhile");
  return folder;
}
