import { CofferError } from "../errors.ts";
import type { VaultStore } from "../vaults/vault-store.ts";
import type { VaultView } from "../vaults/views.ts";
import type { SyncAnswer } from "./messages.ts";
import { beginAnew, dropRecord, finishAnew, putRecord, putVault } from "./replica.ts";
import type { Replica, Step } from "./replica.ts";

/**
 * Asks for what a page of a sync's answer does not say, and returns the step that takes it; with `anew` what is held begins
 * anew with this page. Records of a vault that the person may not see by now are left out. Throws CofferError when the
 * service cannot be asked about a vault.
 */
export async function stepOfAnswer(
  replica: Replica,
  vaults: VaultStore,
  answer: SyncAnswer,
  anew: boolean,
): Promise<Step> {
  const strange = new Set(answer.changes.map((item) => item.vault_id).filter((id) => !replica.vaults.has(id)));
  const views: VaultView[] = [];
  for (const id of strange) {
    const view = await visible(vaults, id);
    if (view !== undefined) views.push(view);
  }
  return () => {
    if (anew) beginAnew(replica);
    const changes = views.flatMap((view) => putVault(replica, view));
    for (const { id, vault_id, type, encrypted_data, updated_at } of answer.changes)
      if (replica.vaults.has(vault_id))
        changes.push(...putRecord(replica, { id, vault_id, type, encrypted_data, updated_at }));
    // After the changes: a record that was deleted while the answer was written is in both (docs/sync.md).
    for (const { id } of answer.deleted) changes.push(...dropRecord(replica, id));
    replica.serverTime = answer.server_time;
    if (!answer.has_more) changes.push(...finishAnew(replica));
    return changes;
  };
}

/** A vault as the service shows it now; undefined when it does not. Throws CofferError. */
export async function visible(vaults: VaultStore, id: string): Promise<VaultView | undefined> {
  try {
    return (await vaults.fresh(id)).view;
  } catch (error) {
    if (isOutOfSight(error)) return undefined;
    throw error;
  }
}

/**
 * Whether the service says that the thing is not there for this person: gone, hidden, or no longer shared. What a proxy
 * says is no reason to drop anything.
 */
export function isOutOfSight(error: unknown): boolean {
  if (!(error instanceof CofferError) || error.foreign) return false;
  return error.code === "not_found" || error.code === "access_denied";
}
