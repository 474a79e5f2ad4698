import { CofferError } from "../errors.ts";
import { isUuid } from "../http/require-requested.ts";
import { folderOf } from "../secrets/find-secret.ts";
import type { OpenFolder, SecretStore } from "../secrets/secret-store.ts";
import { requireOwnName } from "../trust/known-as.ts";
import type { SecretView } from "../views.ts";

/**
 * The folder with that name or id. Queries the service when it is unknown, and asks the caller
 * about one that is not accepted yet. Throws CofferError `not_found`, `name_ambiguous`, and
 * `not_accepted` for the name of one that the person has removed.
 */
export async function requireFolder(store: SecretStore, nameOrId: string): Promise<OpenFolder> {
  const known = folderOf(await store.folders(false), nameOrId);
  const folder = known?.trusted === true ? known : folderOf(await store.folders(true), nameOrId);
  if (folder?.trusted === false && folder.verified?.removed !== true) return (await store.accepted?.(folder)) ?? folder;
  if (folder !== undefined) {
    if (!isUuid(nameOrId)) await requireOwnName(store.histories, `folder:${folder.id}`, store.caller);
    return folder;
  }
  throw new CofferError(
    "not_found",
    `there is no folder ${nameOrId} that you may use: create it first, or request access`,
  );
}

/**
 * The caller's folders with the keys of these secrets. When a folder or its history is not known,
 * first the stored folders are used, and then the service is queried again. Throws the CofferError
 * of a failed query when only the service could decide: a secret that does not open with an older
 * key would otherwise look unreadable.
 */
export async function foldersFor(store: SecretStore, views: readonly SecretView[]): Promise<OpenFolder[]> {
  const known = await store.folders(false);
  const needed = known.filter(({ id }) => views.some((view) => view.folder_id === id));
  // An earlier answer may have been false, or the key may have been sealed to the caller since.
  if (fit(known, views) && needed.every(hasKey)) return known;
  // A stored folder without its key proves nothing: the key may have been sealed to the caller
  // since.
  const kept = await store.storedFolders?.((folders) => fit(folders.filter(hasKey), views));
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
