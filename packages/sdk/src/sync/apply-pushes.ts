import { viewOf } from "../vaults/change-record.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import { isOutOfSight, visible } from "./apply-answer.ts";
import type { Push } from "./messages.ts";
import { isNewer } from "./newer.ts";
import { dropRecord, dropVault, putRecord, putVault } from "./replica.ts";
import type { Replica, ReplicaChange } from "./replica.ts";

/** So many records are fetched one by one; of more, such as an import's, a sync brings all at once. */
const mostFetches = 8;

/** What pushes are about: of several about one thing the last one counts. */
export function keyOfPush({ action, record_id, vault_id, folder_id, change }: Push): string {
  if (record_id !== null) return `record ${record_id}`;
  return vault_id === null ? `${action} ${folder_id ?? ""} ${change ?? ""}` : `vault ${vault_id}`;
}

/**
 * Two pushes about one thing as one: the later, which of a vault also says whether it came into sight since the first of
 * them, with records that nothing else brings.
 */
export function asOnePush(earlier: Push | undefined, later: Push): Push {
  const cameIn = earlier?.action === "vault_created" || earlier?.action === "vault_deleted";
  return cameIn && later.action === "vault_updated" ? { ...later, action: "vault_created" } : later;
}

/**
 * Takes pushes about vaults and records: fetches what they announce, unless it is held already. `sync` says that what
 * they announce is to be asked for by a sync. Throws CofferError when the service cannot be asked.
 */
export async function applyPushes(
  replica: Replica,
  vaults: VaultStore,
  pushes: readonly Push[],
): Promise<{ changes: ReplicaChange[]; sync: boolean }> {
  const changes: ReplicaChange[] = [];
  const fetches: { id: string; vaultId: string }[] = [];
  let sync = false;
  for (const { action, record_id: id, vault_id: vaultId, updated_at: updatedAt } of pushes) {
    if (vaultId === null) continue;
    if (action.startsWith("vault_")) {
      const view = action === "vault_deleted" ? undefined : await visible(vaults, vaultId);
      if (view === undefined) {
        changes.push(...dropVault(replica, vaultId));
        continue;
      }
      // A vault that came into sight comes with all its records.
      sync ||= !replica.vaults.has(vaultId) || action === "vault_created";
      changes.push(...putVault(replica, view));
    } else if (id !== null && action === "record_deleted") changes.push(...dropRecord(replica, id));
    else if (id !== null && action.startsWith("record_")) {
      const held = replica.records.get(id);
      const isHeld = held !== undefined && updatedAt !== null && !isNewer(updatedAt, held.updated_at);
      if (!isHeld) fetches.push({ id, vaultId });
    }
  }
  if (sync || fetches.length > mostFetches) return { changes, sync: true };
  const fetched = await Promise.all(fetches.map(({ id, vaultId }) => fetchRecord(replica, vaults, vaultId, id)));
  return { changes: [...changes, ...fetched.flat()], sync: false };
}

async function fetchRecord(
  replica: Replica,
  vaults: VaultStore,
  vaultId: string,
  id: string,
): Promise<ReplicaChange[]> {
  try {
    const { type, encrypted_data, updated_at } = await viewOf(vaults, vaultId, id);
    const changes: ReplicaChange[] = [];
    if (!replica.vaults.has(vaultId)) {
      const vault = await visible(vaults, vaultId);
      if (vault === undefined) return [];
      changes.push(...putVault(replica, vault));
    }
    return [...changes, ...putRecord(replica, { id, vault_id: vaultId, type, encrypted_data, updated_at })];
  } catch (error) {
    if (!isOutOfSight(error)) throw error;
    return dropRecord(replica, id);
  }
}
