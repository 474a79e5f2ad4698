import type { RecordPayload } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { type Vault, vaultOf } from "../vaults/open-vault.ts";
import { openFields } from "../vaults/sealed-record.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import { type HeldRecord, type RecordChange, type Replica, type ReplicaChange, unreportedChanges } from "./replica.ts";

/** A decrypted record of a synced device. */
export interface SyncedRecord {
  id: string;
  vault_id: string;
  type: string;
  fields: RecordPayload;
  /** Assigned by the server at each write. */
  updated_at: string;
}

/** A change. A vault that is deleted or becomes invisible takes its records with it. */
export type SyncChange =
  | { action: "record_created" | "record_updated"; record: SyncedRecord }
  | { action: "record_deleted"; record_id: string; vault_id: string }
  | { action: "vault_created" | "vault_updated"; vault: Vault }
  | { action: "vault_deleted"; vault_id: string }
  /** `change` is `metadata`, `membership`, `key` or `secrets`. */
  | { action: "folder_updated"; folder_id: string; change: string };

export type OnUnreadable = ((id: string, error: CofferError) => void) | undefined;

/**
 * Decrypts the records of changes. Unreadable ones are left out and reported to `onUnreadable`.
 * They are reported as changes once their vault has a key that was not tried yet: it became usable,
 * or the vault was rotated.
 */
export async function openChanges(
  changes: readonly ReplicaChange[],
  replica: Replica,
  vaults: VaultStore,
  onUnreadable: OnUnreadable,
): Promise<SyncChange[]> {
  const { unreported } = replica;
  const late = await lateChanges(changes, replica, vaults);
  const opening = [...changes, ...late].map(async (change): Promise<SyncChange[]> => {
    if ("record" in change) {
      const { id, vault_id } = change.record;
      const action = unreported.get(id)?.action ?? change.action;
      const tried = await keyVersionOf(vaults, vault_id);
      const record = await openHeld(change.record, vaults, onUnreadable);
      if (record === undefined) unreported.set(id, { action, tried });
      else unreported.delete(id);
      return record === undefined ? [] : [{ action, record }];
    }
    if (change.action === "vault_created" || change.action === "vault_updated") {
      const view = replica.vaults.get(change.vault_id);
      return view === undefined
        ? []
        : [{ action: change.action, vault: vaults.known(view.id)?.vault ?? vaultOf(view) }];
    }
    return [change];
  });
  return (await Promise.all(opening)).flat();
}

/**
 * Changes that could not be opened before and can be now, unless they are among the current
 * changes.
 */
async function lateChanges(
  changes: readonly ReplicaChange[],
  replica: Replica,
  vaults: VaultStore,
): Promise<RecordChange[]> {
  const now = new Set(changes.map((change) => ("record" in change ? change.record.id : undefined)));
  const late: RecordChange[] = [];
  for (const { action, record, tried } of unreportedChanges(replica)) {
    if (now.has(record.id)) continue;
    const version = await keyVersionOf(vaults, record.vault_id);
    if (version !== null && version !== tried) late.push({ action, record });
  }
  return late;
}

/** The version of a vault's usable key; null for none. */
async function keyVersionOf(vaults: VaultStore, vaultId: string): Promise<number | null> {
  const open = await vaults.one(vaultId).catch(() => undefined);
  return open === undefined || open.key === null ? null : open.vault.key_version;
}

/** One decrypted record; undefined when it does not open. */
export async function openHeld(
  { id, vault_id, type, encrypted_data, updated_at }: HeldRecord,
  vaults: VaultStore,
  onUnreadable: OnUnreadable,
): Promise<SyncedRecord | undefined> {
  try {
    const fields = await openFields(await vaults.one(vault_id), id, encrypted_data);
    return { id, vault_id, type, fields, updated_at };
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
    onUnreadable?.(id, error);
    return undefined;
  }
}
