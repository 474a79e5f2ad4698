import { CofferError } from "./errors.ts";
import { folderOf } from "./find-secret.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import type { SecretView } from "./views.ts";

/**
 * The folder of that name or id; asks the service when it is not known, and the caller about one that was not accepted yet.
 * Throws CofferError `not_found`, `name_ambiguous`.
 */
export async function requireFolder(store: SecretStore, nameOrId: string): Promise<OpenFolder> {
  const known = folderOf(await store.folders(false), nameOrId);
  const folder = known?.trusted === true ? known : folderOf(await store.folders(true), nameOrId);
  if (folder?.trusted === false) return (await store.accepted?.(folder)) ?? folder;
  if (folder !== undefined) return folder;
  throw new CofferError(
    "not_found",
    `there is no folder ${nameOrId} that you may use: make it first, or ask for access`,
  );
}

/**
 * The caller's folders with the keys that these secrets are sealed under: when a folder, or what the history says of it, is
 * not known, those that were kept, and asks the service anew when they do not have it either.
 * Throws the CofferError for which the service did not answer when only it could say: a secret that does not open with
 * a key from before the rotation would be taken for one that nobody can open.
 */
export async function foldersFor(store: SecretStore, views: readonly SecretView[]): Promise<OpenFolder[]> {
  const known = await store.folders(false);
  if (fit(known, views)) return known;
  // A kept folder without its key says nothing: the key may have been sealed to the caller since.
  const kept = await store.keptFolders?.((folders) => fit(folders.filter(hasKey), views));
  if (kept !== undefined) return kept;
  const fresh = await store.folders(true);
  const away = store.foldersAway?.();
  if (away !== undefined && !fit(fresh, views)) throw away;
  return fresh;
}

function fit(folders: readonly OpenFolder[], views: readonly SecretView[]): boolean {
  const known = new Map(folders.map((folder) => [folder.id, folder]));
  return views.every((view) => {
    const folder = known.get(view.folder_id);
    if (folder?.keyVersion !== view.key_version) return false;
    return view.history_seq === undefined || folder.historySeq === view.history_seq;
  });
}

const hasKey = ({ key }: OpenFolder): boolean => key !== null;
