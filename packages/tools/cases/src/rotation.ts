import { box, type Context, contexts, newKey, seal, unbox } from "@coffer/crypto";
import type { Machine } from "./machine.ts";
import type { OwnerKey } from "./owner.ts";
import type { FolderKey } from "./seal.ts";

/** A secret as it was made: the parts that are sealed with the folder's key. */
export interface MadeSecret {
  uid: string;
  encrypted_payload: string;
  wrapped_dek: string;
  title_encrypted?: string;
  fields?: Record<string, string>;
}

/** The values to seal again, their recipients, and the old and the new key of the folder. */
export interface Resealing {
  from: FolderKey;
  to: FolderKey;
  keyVersion: number;
  owner: OwnerKey;
  machines: readonly Machine[];
  secrets: readonly MadeSecret[];
  /** Whether each secret gets a new DEK. */
  payloads: boolean;
}

/** The body that rotates a folder, as a correct client makes it. Secrets are in their first version. */
export async function sealRotation({ from, to, keyVersion, owner, machines, secrets, payloads }: Resealing) {
  const again = async (sealed: string, context: Context): Promise<string> =>
    box(to.key, await unbox(from.key, sealed, context), context);
  return {
    key_version: keyVersion,
    encrypted_keys: {
      users: [{ user_id: owner.id, encrypted_key: await box(owner.userKey, to.key, contexts.folderKey(to.id)) }],
      clients: await Promise.all(
        machines.map(async ({ client_id, public_key }) => ({
          client_id,
          encrypted_key: await seal(public_key, to.key, contexts.sharedFolderKey(to.id)),
        })),
      ),
    },
    secrets: await Promise.all(
      secrets.map(async ({ uid, encrypted_payload, wrapped_dek, title_encrypted: title, fields }) => ({
        uid,
        version: 1,
        ...(payloads
          ? await withNewDek(from, to, { uid, encrypted_payload, wrapped_dek })
          : { wrapped_dek: await again(wrapped_dek, contexts.dek(uid)) }),
        ...(title === undefined ? {} : { title_encrypted: await again(title, contexts.title(uid)) }),
        ...(fields === undefined ? {} : { fields: await resealed(fields, uid, again) }),
      })),
    ),
  };
}

/** The payload under a new DEK. */
async function withNewDek(
  from: FolderKey,
  to: FolderKey,
  { uid, encrypted_payload, wrapped_dek }: MadeSecret,
): Promise<{ encrypted_payload: string; wrapped_dek: string }> {
  const former = await unbox(from.key, wrapped_dek, contexts.dek(uid));
  const payload = await unbox(former, encrypted_payload, contexts.data(uid));
  const dek = newKey();
  return {
    encrypted_payload: await box(dek, payload, contexts.data(uid)),
    wrapped_dek: await box(to.key, dek, contexts.dek(uid)),
  };
}

async function resealed(
  fields: Record<string, string>,
  uid: string,
  again: (sealed: string, context: Context) => Promise<string>,
): Promise<Record<string, string>> {
  const entries = Object.entries(fields).map(async ([name, sealed]) => {
    return [name, await again(sealed, contexts.field(uid, name))] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}
