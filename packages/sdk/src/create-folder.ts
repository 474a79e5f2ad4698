import { box, contexts, decodeBase64, newId, newKey } from "@coffer/crypto";
import { askedFor } from "./asked-for.ts";
import type { PersonSession } from "./person-session.ts";
import type { ApiAnswer, ApiRequest } from "./transport.ts";
import type { FolderView } from "./views.ts";

/** The version of the key that a folder or a vault is made with. */
export const firstKeyVersion = 1;

/** A folder as the service lists it. */
export type FolderSummary = FolderView & { created_at: string; updated_at: string };

/** Makes a folder under an id made here, to which its new key is bound; only the caller can open that key. */
export async function createFolder(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  session: PersonSession,
  name: string,
): Promise<FolderSummary> {
  const id = newId();
  const encryptedKey = await box(decodeBase64(session.user_key), newKey(), contexts.folderKey(id));
  const body = { id, name, encrypted_key: encryptedKey, key_version: firstKeyVersion };
  return askedFor<FolderSummary>(await send({ method: "POST", path: "/api/org/folders", body }), { id });
}
