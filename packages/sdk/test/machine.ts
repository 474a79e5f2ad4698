import { contexts, encodeBase64, newId, newKey, newKeyPair, newSecretUid, seal } from "@coffer/crypto";
import type { MachineConfiguration } from "../src/index.ts";
import { sealSecret } from "../src/sealed-secret.ts";
import type { OpenFolder } from "../src/secret-store.ts";
import type { FolderView, SecretView } from "../src/views.ts";

/** A folder with a new key. */
export function newFolder(name: string, keyVersion = 1): OpenFolder & { key: Uint8Array } {
  return { id: newId(), name, permission: "write", keyVersion, key: newKey() };
}

/** A machine that holds the keys of these folders. */
export async function newMachine(url: string, folders: OpenFolder[]): Promise<MachineConfiguration> {
  const { publicKey, privateKey } = await newKeyPair();
  return {
    version: 1,
    url,
    client_id: newId(),
    private_key: encodeBase64(privateKey),
    public_key: publicKey,
    application_id: newId(),
    org_id: newId(),
    folders: folders.map(({ id, name, permission, keyVersion, key }) => ({
      id,
      name,
      permission,
      key_version: keyVersion,
      key: key === null ? null : encodeBase64(key),
    })),
  };
}

/** A secret as the service shows it, sealed by our own client. */
export async function newSecret(
  folder: OpenFolder,
  title: string,
  fields: Record<string, string>,
  uid: string = newSecretUid(),
): Promise<SecretView> {
  const sealed = await sealSecret(folder, uid, title, { name: title, fields });
  return {
    uid,
    folder_id: folder.id,
    title_encrypted: sealed.title_encrypted,
    data_encrypted: sealed.encrypted_payload,
    wrapped_dek: sealed.wrapped_dek,
    record_type: "api_credential",
    title,
    field_names: Object.keys(fields),
    key_version: folder.keyVersion ?? 1,
    version: 1,
    created_at: "2026-11-20T10:00:00.000000Z",
    updated_at: "2026-11-20T10:00:00.000000Z",
  };
}

/** A folder as the service lists it to a machine, its key sealed to the machine's public key. */
export async function folderFor(folder: OpenFolder & { key: Uint8Array }, publicKey: string): Promise<FolderView> {
  return {
    id: folder.id,
    name: folder.name,
    permission: folder.permission,
    key_version: folder.keyVersion ?? 1,
    encrypted_key: await seal(publicKey, folder.key, contexts.sharedFolderKey(folder.id)),
    encrypted_key_alg: "jwe",
  };
}

/** A bare box as a client writes it that knows the specification alone: no version, no context. */
export async function bareBox(key: Uint8Array, plaintext: Uint8Array): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const cryptoKey = await crypto.subtle.importKey("raw", new Uint8Array(key), "AES-GCM", false, ["encrypt"]);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, cryptoKey, new Uint8Array(plaintext));
  return encodeBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)]));
}
