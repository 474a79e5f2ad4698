import { CofferError } from "./errors.ts";
import { folderOf } from "./find-secret.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import type { SecretView } from "./views.ts";

/** The folder of that name or id; asks the service when it is not known. Throws CofferError `not_found`. */
export async function requireFolder(store: SecretStore, nameOrId: string): Promise<OpenFolder> {
  const folder = folderOf(await store.folders(false), nameOrId) ?? folderOf(await store.folders(true), nameOrId);
  if (folder !== undefined) return folder;
  throw new CofferError(
    "not_found",
    `there is no folder ${nameOrId} that you may use: make it first, or ask for access`,
  );
}

/**
 * The caller's folders with the keys that these secrets are sealed under: asks the service anew when a folder, or the
 * version of its key, is not known.
 */
export async function foldersFor(store: SecretStore, views: readonly SecretView[]): Promise<OpenFolder[]> {
  const folders = await store.folders(false);
  const versions = new Map(folders.map(({ id, keyVersion }) => [id, keyVersion]));
  return views.every((view) => versions.get(view.folder_id) === view.key_version) ? folders : store.folders(true);
}
