import {
  box,
  type Context,
  contexts,
  decodeSecret,
  decodeText,
  encodeSecret,
  encodeText,
  newKey,
  unbox,
} from "@coffer/crypto";
import type { Opening } from "./case-file.ts";

/** A folder and its key. */
export interface FolderKey {
  id: string;
  key: Uint8Array<ArrayBuffer>;
}

export interface PlainSecret {
  uid: string;
  title?: string | undefined;
  name: string;
  fields: Record<string, string>;
}

/** The sealed members of a secret's body. */
export async function sealSecret({ key }: FolderKey, { uid, title, name, fields }: PlainSecret) {
  const dek = newKey();
  const sealedFields = await Promise.all(
    Object.entries(fields).map(async ([each, value]) => {
      return [each, await box(key, encodeText(value), contexts.field(uid, each))] as const;
    }),
  );
  return {
    encrypted_payload: await box(dek, encodeSecret({ name, fields }), contexts.data(uid)),
    wrapped_dek: await box(key, dek, contexts.dek(uid)),
    ...(title === undefined ? {} : { title_encrypted: await box(key, encodeText(title), contexts.title(uid)) }),
    ...(sealedFields.length === 0 ? {} : { fields: Object.fromEntries(sealedFields) }),
  };
}

/** A sealed value with everything that opens it. */
export interface Sealed {
  sealed: string;
  as: Opening["as"];
  folder: FolderKey;
  uid?: string | undefined;
  field?: string | undefined;
  dek?: string | undefined;
  wrapKey?: Uint8Array<ArrayBuffer> | undefined;
}

/**
 * Opens it as a client does with the folder's key: the payload as an object, title and field as text, a
 * folder key as whether it is the folder's. Throws a CryptoError if it does not open.
 */
export async function openSealed({
  sealed,
  as,
  folder,
  uid = "",
  field = "",
  dek = "",
  wrapKey,
}: Sealed): Promise<unknown> {
  const open = (key: Uint8Array, context: Context): Promise<Uint8Array> => unbox(key, sealed, context);
  switch (as) {
    case "title":
      return decodeText(await open(folder.key, contexts.title(uid)));
    case "field":
      return decodeText(await open(folder.key, contexts.field(uid, field)));
    case "data":
      return decodeSecret(await open(await unbox(folder.key, dek, contexts.dek(uid)), contexts.data(uid)));
    case "folder_key": {
      if (wrapKey === undefined) throw new TypeError("a folder key is opened with a token");
      return Buffer.from(await open(wrapKey, contexts.sharedFolderKey(folder.id))).equals(folder.key);
    }
  }
}
