import { contexts, decodeBase64, openSealed, unboxBound } from "@coffer/crypto";
import { CofferError } from "./errors.ts";
import type { PersonSession } from "./person-session.ts";
import type { FolderView } from "./views.ts";

/** The keys with which a caller opens the folder keys that were sealed for it. */
export interface Unsealing {
  /** The folder key boxed in one of the ways of `encrypted_key_alg`; undefined when this caller knows none. */
  box(alg: string, folderId: string, sealed: string): Promise<Uint8Array> | undefined;
  /** PKCS#8 DER, for a key that was sealed to the public key. */
  privateKey(): Promise<Uint8Array>;
}

/** The ways in which a person's folder keys are sealed: under the user key, or to the public key. */
export function personUnsealing(session: PersonSession): Unsealing {
  const userKey = (): Uint8Array => decodeBase64(session.user_key);
  return {
    box: (alg, id, sealed) => (alg === "box-user" ? unboxBound(userKey(), sealed, contexts.folderKey(id)) : undefined),
    privateKey: () => unboxBound(userKey(), session.encrypted_private_key, contexts.privateKey()),
  };
}

/**
 * A folder's key as it was sealed to the caller; null when it was not. That it is the folder's key is not said by that: the
 * history's check says it. Throws CofferError `not_decrypted`.
 */
export async function openFolderKey(view: FolderView, unsealing: Unsealing): Promise<Uint8Array | null> {
  const { id, encrypted_key: sealed, encrypted_key_alg: alg } = view;
  if (sealed === null || sealed === "" || alg === null) return null;
  try {
    if (alg === "jwe") return await openSealed(await unsealing.privateKey(), sealed, contexts.sharedFolderKey(id));
    return (await unsealing.box(alg, id, sealed)) ?? null;
  } catch (cause) {
    const what = `the key of the folder ${view.name} cannot be opened: it was sealed for somebody else, or altered`;
    throw new CofferError("not_decrypted", what, { cause });
  }
}
