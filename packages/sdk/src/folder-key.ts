import { contexts, decodeBase64, openSealed, unboxBound } from "@coffer/crypto";
import { CofferError } from "./errors.ts";
import type { PersonSession } from "./person-session.ts";
import type { OpenFolder } from "./secret-store.ts";
import type { FolderView } from "./views.ts";

/** The keys with which a caller opens the folder keys that were sealed for it. */
export interface Unsealing {
  /** The folder key boxed in one of the ways of `encrypted_key_alg`; undefined when this caller knows none. */
  box(alg: string, folderId: string, sealed: string): Promise<Uint8Array> | undefined;
  /** PKCS#8 DER, for a key that was sealed to the public key. */
  privateKey(): Promise<Uint8Array>;
}

/**
 * A folder as the service lists it, with its key opened. A key that does not open is that folder's trouble alone: it
 * is thrown where the key is needed.
 */
export async function openFolder(view: FolderView, unsealing: Unsealing): Promise<OpenFolder> {
  const { id, name, permission, key_version: keyVersion } = view;
  try {
    return { id, name, permission, keyVersion, key: await openKey(view, unsealing) };
  } catch (cause) {
    const what = `the key of the folder ${name} cannot be opened: it was sealed for somebody else, or altered`;
    return { id, name, permission, keyVersion, key: null, keyError: new CofferError("not_decrypted", what, { cause }) };
  }
}

/** The ways in which a person's folder keys are sealed: under the user key, or to the public key. */
export function personUnsealing(session: PersonSession): Unsealing {
  const userKey = (): Uint8Array => decodeBase64(session.user_key);
  return {
    box: (alg, id, sealed) => (alg === "box-user" ? unboxBound(userKey(), sealed, contexts.folderKey(id)) : undefined),
    privateKey: () => unboxBound(userKey(), session.encrypted_private_key, contexts.privateKey()),
  };
}

async function openKey(view: FolderView, unsealing: Unsealing): Promise<Uint8Array | null> {
  const { id, encrypted_key: sealed, encrypted_key_alg: alg } = view;
  if (sealed === null || sealed === "" || alg === null) return null;
  if (alg === "jwe") return openSealed(await unsealing.privateKey(), sealed, contexts.sharedFolderKey(id));
  return (await unsealing.box(alg, id, sealed)) ?? null;
}
