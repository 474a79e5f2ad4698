import { newId, type RecordPayload } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { ApiAnswer } from "../http/transport.ts";
import type { NewRecord } from "./import-records.ts";
import type { OpenVault } from "./open-vault.ts";
import { openRecord, sealRecord, type VaultRecord } from "./sealed-record.ts";
import { recordPath, vaultPath } from "./vault-path.ts";
import type { VaultStore } from "./vault-store.ts";
import type { RecordView } from "./views.ts";

/** The new content of a record. All of its fields are replaced. */
export interface RecordChange {
  /** Without it the type is not changed. */
  type?: string | undefined;
  fields: RecordPayload;
}

/** How often a change restarts after a concurrent change of the same record. */
const rounds = 10;

/** A record from the service. Throws CofferError, `bad_answer` for another record. */
export async function viewOf(store: VaultStore, vaultId: string, id: string): Promise<RecordView> {
  return thisRecord(await store.send({ method: "GET", path: recordPath(vaultId, id) }), vaultId, id);
}

function thisRecord(answer: ApiAnswer, vaultId: string, id: string): RecordView {
  return requireRequested<RecordView>(answer, { id, vault_id: vaultId });
}

/**
 * Creates a record under a client-made id, to which its ciphertext is bound. Throws CofferError.
 */
export function createRecord(store: VaultStore, vaultId: string, record: NewRecord): Promise<VaultRecord> {
  const { type, fields, id = newId() } = record;
  return withNewestKey(store, vaultId, async (vault) => {
    const encryptedData = await sealRecord(vault, id, fields);
    const body = { id, type, encrypted_data: encryptedData, key_version: vault.vault.key_version };
    try {
      const path = `${vaultPath(vaultId)}/records`;
      const made = await store.send({ method: "POST", path, body, repeatable: true });
      return await openRecord(vault, thisRecord(made, vaultId, id));
    } catch (error) {
      // A client-made id is unique. The vault may have been rotated since the lost response.
      if (record.id === undefined) return madeBefore(error, store, vaultId, id);
      return openRecord(vault, await alreadyOurs(error, "conflict", store, vaultId, id, encryptedData));
    }
  });
}

/** The record of a write whose response was lost. Throws the error when there is none. */
async function madeBefore(error: unknown, store: VaultStore, vaultId: string, id: string): Promise<VaultRecord> {
  if (!(error instanceof CofferError) || error.code !== "conflict") throw error;
  try {
    return await readRecord(store, vaultId, id);
  } catch {
    throw error;
  }
}

/**
 * Replaces a record. With `unchangedSince`, the `updated_at` that the caller knows, only if there
 * was no write since; otherwise the last write wins. Throws CofferError, `precondition_failed`
 * after another write.
 */
export function updateRecord(
  store: VaultStore,
  vaultId: string,
  id: string,
  { type, fields }: RecordChange,
  unchangedSince: string | undefined,
): Promise<VaultRecord> {
  return withNewestKey(store, vaultId, async (vault) => {
    const encryptedData = await sealRecord(vault, id, fields);
    const { key_version } = vault.vault;
    const body = { type: type ?? (await viewOf(store, vaultId, id)).type, encrypted_data: encryptedData, key_version };
    const headers = unchangedSince === undefined ? undefined : { "if-match": `"${unchangedSince}"` };
    const view = await store
      .send({ method: "PUT", path: recordPath(vaultId, id), headers, body })
      .then((changed) => thisRecord(changed, vaultId, id))
      .catch((error: unknown) => alreadyOurs(error, "precondition_failed", store, vaultId, id, encryptedData));
    return openRecord(vault, view);
  });
}

/**
 * Reads, changes and writes a record, and restarts after a concurrent write. Throws CofferError.
 */
export async function changeRecord(
  store: VaultStore,
  vaultId: string,
  id: string,
  change: (record: VaultRecord) => RecordChange,
): Promise<VaultRecord> {
  for (let round = 1; ; round += 1) {
    const record = await readRecord(store, vaultId, id);
    try {
      return await updateRecord(store, vaultId, id, { type: record.type, ...change(record) }, record.updated_at);
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "precondition_failed" || round === rounds) throw error;
    }
  }
}

/** A record, opened with the vault's current key. Throws CofferError. */
export async function readRecord(store: VaultStore, vaultId: string, id: string): Promise<VaultRecord> {
  return withKeyThatOpens(store, vaultId, async (vault) => openRecord(vault, await viewOf(store, vaultId, id)));
}

/**
 * Writes with the newest key of a vault, and again with each newer key after a rotation: the
 * service refuses a record under an earlier key. `again` is true from the second time on. Throws
 * CofferError.
 */
export async function withNewestKey<T>(
  store: VaultStore,
  vaultId: string,
  write: (vault: OpenVault, again: boolean) => Promise<T>,
): Promise<T> {
  let vault = await store.toWrite(vaultId);
  for (let round = 1; ; round += 1)
    try {
      return await write(vault, round > 1);
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "conflict" || round === rounds) throw error;
      const { key_version: before } = vault.vault;
      vault = await store.fresh(vaultId);
      if (vault.vault.key_version === before) throw error;
    }
}

/**
 * Opens a value with the known key of a vault, and again if the vault has a newer key. Another call
 * may have seen that key meanwhile.
 */
export async function withKeyThatOpens<T>(
  store: VaultStore,
  vaultId: string,
  open: (vault: OpenVault) => Promise<T>,
): Promise<T> {
  const vault = await store.toRead(vaultId);
  try {
    return await open(vault);
  } catch (error) {
    if (!(error instanceof CofferError) || (error.code !== "not_decrypted" && error.code !== "conflict")) throw error;
    const fresh = await store.fresh(vaultId);
    if (fresh.vault.key_version === vault.vault.key_version) throw error;
    return open(fresh);
  }
}

/**
 * The result of a write whose response was lost, when the repeated write is refused because of it.
 * No two ciphertexts are equal. Throws the error for another client's value.
 */
async function alreadyOurs(
  error: unknown,
  code: "conflict" | "precondition_failed",
  store: VaultStore,
  vaultId: string,
  id: string,
  encryptedData: string,
): Promise<RecordView> {
  if (!(error instanceof CofferError) || error.code !== code) throw error;
  const view = await viewOf(store, vaultId, id).catch(() => undefined);
  if (view?.encrypted_data !== encryptedData) throw error;
  return view;
}
