import { contexts, decodeText, unbox } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { requireFolder } from "../folders/fresh-folders.ts";
import type { NotationView } from "../views.ts";
import type { Notation } from "./notation.ts";
import { unsealedTitleProblem, usableKeyOf } from "./sealed-secret.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";

/**
 * The folder that a notation names, with the key that the response is sealed under. Queries the
 * service again when the stored folder does not fit. Throws CofferError `bad_answer` for a response
 * of another folder, and `not_found` like `requireFolder`.
 */
export async function folderAnswered(store: SecretStore, named: Notation, view: NotationView): Promise<OpenFolder> {
  let folder = await requireFolder(store, named.folder);
  if (folder.id !== view.folder_id || folder.keyVersion !== view.key_version || folder.key === null) {
    await store.folders(true);
    folder = await requireFolder(store, named.folder);
  }
  if (folder.id !== view.folder_id) throw another("folder");
  return folder;
}

/**
 * Checks that the response is about the secret and field of the notation: by uid or by sealed
 * title, whatever title the service shows. `unsealed` accepts the service's title for a secret
 * without a sealed one. Throws CofferError `bad_answer` for another secret, `invalid_request` for a
 * title that is not sealed, `not_decrypted` for a sealed title that does not open.
 */
export async function checkAnswered(
  folder: OpenFolder,
  { title, field }: Notation,
  view: NotationView,
  unsealed: boolean,
): Promise<void> {
  if (view.field !== field) throw another("field");
  if (view.uid === title) return;
  const sealed = view.title_encrypted ?? "";
  if (sealed === "") {
    if (unsealed && view.title === title) return;
    throw new CofferError("invalid_request", unsealedTitleProblem(title));
  }
  if ((await openAnsweredTitle(folder, view.uid, sealed)) !== title) throw another("secret");
}

async function openAnsweredTitle(folder: OpenFolder, uid: string, sealed: string): Promise<string> {
  try {
    return decodeText(await unbox(await usableKeyOf(folder), sealed, contexts.title(uid)));
  } catch (cause) {
    if (cause instanceof CofferError) throw cause;
    throw new CofferError("not_decrypted", `the title of ${uid} cannot be decrypted: another key, or altered`, {
      cause,
    });
  }
}

function another(what: string): CofferError {
  return new CofferError("bad_answer", `the service answered with another ${what} than requested`);
}
