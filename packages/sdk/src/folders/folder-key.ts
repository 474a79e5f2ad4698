import { contexts, decodeBase64, openSealed, unboxBound } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { PersonSession } from "../people/person-session.ts";
import type { FolderView } from "../views.ts";

/** The keys with which a caller opens its folder keys. */
export interface Unsealing {
  /**
   * Opens a boxed folder key by its `encrypted_key_alg`; undefined when this caller does not
   * support it.
   */
  box(alg: string, folderId: string, sealed: string): Promise<Uint8Array> | undefined;
  /** PKCS#8 DER, for a key that was sealed to the public key. */
  privateKey(): Promise<Uint8Array>;
}

/** A person's folder keys are sealed under the user key, or to the public key. */
export function personUnsealing(session: PersonSession): Unsealing {
  const userKey = (): Uint8Array => decodeBase64(session.user_key);
  return {
    box: (alg, id, sealed) => (alg === "box-user" ? unboxBound(userKey(), sealed, contexts.folderKey(id)) : undefined),
    privateKey: () => unboxBound(userKey(), session.encrypted_private_key, contexts.privateKey()),
  };
}

/**
 * A folder's key as it was sealed to the caller; null when it was not. Only the check in the
 * history proves that it is the folder's key. Throws CofferError `not_decrypted`.
 */
export async function openFolderKey(view: FolderView, unsealing: Unsealing): Promise<Uint8Array | null> {
  const { id, encrypted_key: sealed, encrypted_key_alg: alg } = view;
  if (sealed === null || sealed === "" || alg === null) return null;
  try {
    if (alg === "jwe") return await openSealed(await unsealing.privateKey(), sealed, contexts.sharedFolderKey(id));
    return (await unsealing.box(alg, id, sealed)) ?? null;
  } catch (cause) {
    const what = `the key of the folder ${view.name} cannot be opened: it was sealed for another person or machine, or altered`;
    throw new CofferError("not_decrypted", what, { cause });
  }
}
