import type { RecordPayload } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { vaultOf } from "../vaults/open-vault.ts";
import type { Vault } from "../vaults/open-vault.ts";
import { openFields } from "../vaults/sealed-record.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import { untoldChanges } from "./replica.ts";
import type { HeldRecord, RecordChange, Replica, ReplicaChange } from "./replica.ts";

/** A record as a synced device holds it, decrypted. */
export interface SyncedRecord {
  id: string;
  vault_id: string;
  type: string;
  fields: RecordPayload;
  /** Assigned by the server at each write. */
  updated_at: string;
}

/** What has changed. A vault that is deleted, or went out of sight, takes its records with it. */
export type SyncChange =
  | { action: "record_created" | "record_updated"; record: SyncedRecord }
  | { action: "record_deleted"; record_id: string; vault_id: string }
  | { action: "vault_created" | "vault_updated"; vault: Vault }
  | { action: "vault_deleted"; vault_id: string }
  /** `change` is `metadata`, `membership`, `key` or `secrets`. */
  | { action: "folder_updated"; folder_id: string; change: string };

export type OnUnreadable = ((id: string, error: CofferError) => void) | undefined;

/**
 * Changes with their records opened; those that cannot be opened are left out and `onUnreadable` hears of them. They come
 * once their vault has a key that was not tried yet: because it could not be used before, or the vault was rotated.
 */
export async function openChanges(
  changes: readonly ReplicaChange[],
  replica: Replica,
  vaults: VaultStore,
  onUnreadable: OnUnreadable,
): Promise<SyncChange[]> {
  const { untold } = replica;
  const late = await lateChanges(changes, replica, vaults);
  const opening = [...changes, ...late].map(async (change): Promise<SyncChange[]> => {
    if ("record" in change) {
      const { id, vault_id } = change.record;
      const action = untold.get(id)?.action ?? change.action;
      const tried = await keyVersionOf(vaults, vault_id);
      const record = await openHeld(change.record, vaults, onUnreadable);
      if (record === undefined) untold.set(id, { action, tried });
      else untold.delete(id);
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

/** What could not be told before, and can be now; but what is told now anyway. */
async function lateChanges(
  changes: readonly ReplicaChange[],
  replica: Replica,
  vaults: VaultStore,
): Promise<RecordChange[]> {
  const now = new Set(changes.map((change) => ("record" in change ? change.record.id : undefined)));
  const late: RecordChange[] = [];
  for (const { action, record, tried } of untoldChanges(replica)) {
    if (now.has(record.id)) continue;
    const version = await keyVersionOf(vaults, record.vault_id);
    if (version !== null && version !== tried) late.push({ action, record });
  }
  return late;
}

/** Which version of a vault's key can be used now; null for none. */
async function keyVersionOf(vaults: VaultStore, vaultId: string): Promise<number | null> {
  const open = await vaults.one(vaultId).catch(() => undefined);
  return open === undefined || open.key === null ? null : open.vault.key_version;
}

/** One record, opened; undefined when it cannot be. */
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
