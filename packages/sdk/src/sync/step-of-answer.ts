import { CofferError } from "../errors.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import type { VaultView } from "../vaults/views.ts";
import type { SyncAnswer } from "./messages.ts";
import { beginFullSync, dropRecord, finishFullSync, putRecord, putVault, type Replica, type Step } from "./replica.ts";

/**
 * Requests missing vaults of a page, and returns the step that applies the page. With `full` a full
 * sync starts with this page. Records of vaults that the person can no longer see are left out.
 * Throws CofferError when a request fails.
 */
export async function stepOfAnswer(
  replica: Replica,
  vaults: VaultStore,
  answer: SyncAnswer,
  full: boolean,
): Promise<Step> {
  const strange = new Set(answer.changes.map((item) => item.vault_id).filter((id) => !replica.vaults.has(id)));
  const views: VaultView[] = [];
  for (const id of strange) {
    const view = await visible(vaults, id);
    if (view !== undefined) views.push(view);
  }
  return () => {
    if (full) beginFullSync(replica);
    const changes = views.flatMap((view) => putVault(replica, view));
    for (const { id, vault_id, type, encrypted_data, updated_at } of answer.changes)
      if (replica.vaults.has(vault_id))
        changes.push(...putRecord(replica, { id, vault_id, type, encrypted_data, updated_at }));
    // After the changes: a record that was deleted while the response was written is in both
    // (docs/sync.md).
    for (const { id } of answer.deleted) changes.push(...dropRecord(replica, id));
    replica.serverTime = answer.server_time;
    if (!answer.has_more) changes.push(...finishFullSync(replica));
    return changes;
  };
}

/** A vault from the service; undefined when the person cannot see it. Throws CofferError. */
export async function visible(vaults: VaultStore, id: string): Promise<VaultView | undefined> {
  try {
    return (await vaults.fresh(id)).view;
  } catch (error) {
    if (isInvisible(error)) return undefined;
    throw error;
  }
}

/**
 * Whether the service says that the object does not exist for this person: deleted, hidden, or no
 * longer shared. A proxy's response is no reason to delete anything.
 */
export function isInvisible(error: unknown): boolean {
  if (!(error instanceof CofferError) || error.foreign) return false;
  return error.code === "not_found" || error.code === "access_denied";
}
