import { viewOf } from "../vaults/change-record.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import type { Push } from "./messages.ts";
import { isNewer } from "./newer.ts";
import { dropRecord, dropVault, putRecord, putVault, type Replica, type Step } from "./replica.ts";
import { isInvisible, visible } from "./step-of-answer.ts";

/**
 * Up to this many records are fetched one by one. A sync fetches more, such as those of an import,
 * together.
 */
const mostFetches = 8;

/** The object of a push. Of several pushes about one object only the last counts. */
export function keyOfPush({ action, record_id, vault_id, folder_id, change }: Push): string {
  if (record_id !== null) return `record ${record_id}`;
  return vault_id === null ? `${action} ${folder_id ?? ""} ${change ?? ""}` : `vault ${vault_id}`;
}

/**
 * Merges two pushes about one object: the later one, which for a vault also records that it became
 * visible since the first, with records that no other push names.
 */
export function asOnePush(earlier: Push | undefined, later: Push): Push {
  const cameIn = earlier?.action === "vault_created" || earlier?.action === "vault_deleted";
  return cameIn && later.action === "vault_updated" ? { ...later, action: "vault_created" } : later;
}

/**
 * Requests the vaults and records that pushes announce, unless they are stored, and returns the
 * step that applies them. `sync` says that a sync must fetch more. Throws CofferError when a
 * request fails.
 */
export async function stepOfPushes(
  replica: Replica,
  vaults: VaultStore,
  pushes: readonly Push[],
): Promise<{ step: Step; sync: boolean }> {
  const steps: Step[] = [];
  const fetches: { id: string; vaultId: string }[] = [];
  const shown = new Set(replica.vaults.keys());
  let sync = false;
  for (const { action, record_id: id, vault_id: vaultId, updated_at: updatedAt } of pushes) {
    if (vaultId === null) continue;
    if (action.startsWith("vault_")) {
      const view = action === "vault_deleted" ? undefined : await visible(vaults, vaultId);
      if (view === undefined) {
        shown.delete(vaultId);
        steps.push(() => dropVault(replica, vaultId));
        continue;
      }
      // A vault that becomes visible comes with all its records. A rotated vault has its records
      // sealed again without pushes, and the key that was read here may be newer than the stored
      // records.
      sync ||= !shown.has(vaultId) || action === "vault_created" || view.type !== "personal";
      shown.add(vaultId);
      steps.push(() => putVault(replica, view));
    } else if (id !== null && action === "record_deleted") steps.push(() => dropRecord(replica, id));
    else if (id !== null && action.startsWith("record_")) {
      const held = replica.records.get(id);
      const isHeld = held !== undefined && updatedAt !== null && !isNewer(updatedAt, held.updated_at);
      if (!isHeld) fetches.push({ id, vaultId });
    }
  }
  sync ||= fetches.length > mostFetches;
  if (!sync)
    steps.push(
      ...(await Promise.all(
        fetches.map(({ id, vaultId }) => fetched(replica, vaults, vaultId, id, shown.has(vaultId))),
      )),
    );
  return { step: () => steps.flatMap((step) => step()), sync };
}

async function fetched(
  replica: Replica,
  vaults: VaultStore,
  vaultId: string,
  id: string,
  vaultShown: boolean,
): Promise<Step> {
  try {
    const { type, encrypted_data, updated_at } = await viewOf(vaults, vaultId, id);
    const record = { id, vault_id: vaultId, type, encrypted_data, updated_at };
    if (vaultShown) return () => putRecord(replica, record);
    const vault = await visible(vaults, vaultId);
    return () => (vault === undefined ? [] : [...putVault(replica, vault), ...putRecord(replica, record)]);
  } catch (error) {
    if (!isInvisible(error)) throw error;
    return () => dropRecord(replica, id);
  }
}
