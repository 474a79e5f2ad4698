import {
  contexts,
  encodeBase64,
  keyCheck,
  type KeyPair,
  newId,
  newKey,
  newKeyPair,
  newSecretUid,
  seal,
} from "@coffer/crypto";
import { type Change, extend, type HistoryState, makeInvitation, sign } from "@coffer/history";
import type { MachineConfiguration, Trusted } from "../../src/index.ts";
import { sealSecret } from "../../src/secrets/sealed-secret.ts";
import type { OpenFolder } from "../../src/secrets/secret-store.ts";
import type { FolderView, SecretView } from "../../src/views.ts";

/** A folder with a new key. */
export function newFolder(name: string, keyVersion = 1): OpenFolder & { key: Uint8Array } {
  return { id: newId(), name, permission: "write", keyVersion, key: newKey() };
}

/** A machine that holds the keys of these folders. */
export async function newMachine(url: string, folders: OpenFolder[]): Promise<MachineConfiguration> {
  const { publicKey, privateKey } = await newKeyPair();
  const clientId = newId();
  const trusted = folders.map(async (folder) => [`folder:${folder.id}`, await trustedBy(folder, clientId, publicKey)]);
  return {
    version: 1,
    url,
    client_id: clientId,
    histories: {
      ...{ version: 1, keyring: 0, unsaved: false },
      resources: Object.fromEntries(await Promise.all(trusted)) as Record<string, Trusted>,
    },
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

/** The histories of the folders that were made here. */
const histories = new Map<string, { entries: string[]; state: HistoryState; manager: KeyPair }>();
const manager = `user:${newId()}` as const;

async function signed(folder: OpenFolder, change: Change): Promise<HistoryState> {
  const held = histories.get(folder.id);
  const pair = held?.manager ?? (await newKeyPair());
  const set = held === undefined ? [{ who: manager, key: pair.publicKey, perm: "manage" as const }] : [];
  const whole = { ...change, set: [...set, ...(change.set ?? [])] };
  const res = `folder:${folder.id}` as const;
  const { text, state } = await sign(held?.state ?? null, res, manager, pair.privateKey, whole);
  histories.set(folder.id, { entries: [...(held?.entries ?? []), text], state, manager: pair });
  return state;
}

/** What a machine trusts that a manager has named in a folder's history. */
async function trustedBy(folder: OpenFolder, clientId: string, publicKey: string): Promise<Trusted> {
  const holder = { who: `client:${clientId}` as const, key: publicKey, perm: "write" as const };
  const ver = folder.keyVersion ?? 1;
  const check = folder.key === null ? "0".repeat(64) : await keyCheck(folder.key, `folder:${folder.id}`, ver);
  const first = { org: newId(), name: folder.name, ver, check };
  const state = await signed(folder, { ...(histories.has(folder.id) ? {} : first), set: [holder] });
  return { pin: state.head, state, accepted: true };
}

/** The same folder under a new key, as its history says from now on. */
export async function rotated(folder: OpenFolder): Promise<OpenFolder & { key: Uint8Array }> {
  const key = newKey();
  const ver = (folder.keyVersion ?? 1) + 1;
  await signed(folder, { ver, check: await keyCheck(key, `folder:${folder.id}`, ver) });
  return { ...folder, key, keyVersion: ver };
}

/** Lets the holder of a token join a folder's history. */
export async function invite(
  folder: OpenFolder & { key: Uint8Array },
  { tokenHash, wrapKey }: { tokenHash: string; wrapKey: Uint8Array },
): Promise<void> {
  const res = `folder:${folder.id}` as const;
  const ver = folder.keyVersion ?? 1;
  await signed(folder, { org: newId(), name: folder.name, ver, check: await keyCheck(folder.key, res, ver) });
  const before = histories.get(folder.id)?.state ?? null;
  const request = { tag: tokenHash, wrapKey, kind: "client", perm: "read" } as const;
  await signed(folder, { invite: [await makeInvitation(before, res, request)] });
}

/** Takes the join of a machine. */
export async function takeJoin(folder: OpenFolder, entry: string): Promise<void> {
  const held = histories.get(folder.id);
  if (held === undefined) throw new Error("the folder has no history");
  held.state = await extend(held.state, `folder:${folder.id}`, entry);
  held.entries.push(entry);
}

/** The page of a folder's history that a request asks for; undefined for any other request. */
export function historyAnswer(path: string): object | undefined {
  const [, id = "", after = "-1"] = /folders\/([^/]+)\/history(?:\?after=(\d+))?$/.exec(path) ?? [];
  const held = histories.get(id);
  if (held === undefined) return undefined;
  return { data: held.entries.slice(Number(after) + 1), history_seq: held.state.head.seq };
}

export function seqOf(folder: OpenFolder): number {
  return histories.get(folder.id)?.state.head.seq ?? 0;
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
    history_seq: seqOf(folder),
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
    history_seq: seqOf(folder),
  };
}

/** A bare box as a client writes it that knows the specification alone: no version, no context. */
export async function bareBox(key: Uint8Array, plaintext: Uint8Array): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const cryptoKey = await crypto.subtle.importKey("raw", new Uint8Array(key), "AES-GCM", false, ["encrypt"]);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, cryptoKey, new Uint8Array(plaintext));
  return encodeBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)]));
}
