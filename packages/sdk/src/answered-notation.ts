import { isSecretUid } from "./asked-for.ts";
import { CofferError } from "./errors.ts";
import { requireFolder } from "./fresh-folders.ts";
import type { Notation } from "./notation.ts";
import { openTitle } from "./sealed-secret.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import type { NotationView } from "./views.ts";

/**
 * The folder that a notation names, with the key that the answer is sealed under: asks the service anew when what is
 * known does not fit. Throws CofferError `bad_answer` when the answer is of another folder, `not_found` as `requireFolder`.
 */
export async function folderAnswered(store: SecretStore, named: Notation, view: NotationView): Promise<OpenFolder> {
  let folder = await requireFolder(store, named.folder);
  if (folder.id !== view.folder_id || folder.keyVersion !== view.key_version) {
    await store.folders(true);
    folder = await requireFolder(store, named.folder);
  }
  if (folder.id !== view.folder_id) throw another("folder");
  return folder;
}

/**
 * Checks that the answer is about the secret and field that the notation names. What may be a uid is a title only when
 * the sealed title says so, whatever the service calls the secret.
 * Throws CofferError `bad_answer` for another one, and what `openTitle` throws.
 */
export async function checkAnswered(
  store: SecretStore,
  folder: OpenFolder,
  { title, field }: Notation,
  view: NotationView,
): Promise<void> {
  if (view.field !== field) throw another("field");
  if (view.uid === title) return;
  if (view.title !== title) throw another("secret");
  if (!isSecretUid(title)) return;
  const secret = await store.one(view.uid);
  if (secret.folder_id !== folder.id || (await openTitle(secret, folder)) !== title) throw another("secret");
}

function another(what: string): CofferError {
  return new CofferError("bad_answer", `the service answered another ${what} than asked for`);
}
