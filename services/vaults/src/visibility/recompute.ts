import { vaultChanged } from "@coffer/events";
import { enqueueEach } from "@coffer/outbox";
import { type Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { recompute, type VisibilityChange, type VisibilityScope } from "../store/sync/visibility.ts";

/** An event names at most so many people. */
export const maxPeople = 1_000;

/**
 * Recomputes visibility after a change of a membership, a vault member, travel mode, the vault's
 * flag or its deletion, and enqueues events for the people concerned. No other code begins or ends
 * visibility. The caller has locked the people, then the vaults of the scope (`lockPeople`,
 * `lockVaults`): without concurrent writers the snapshots are exact.
 */
export async function recomputeVisibility(
  tx: Transaction,
  deps: Pick<Deps, "newId" | "now">,
  scope: VisibilityScope,
): Promise<readonly VisibilityChange[]> {
  const changes = await recompute(tx, scope, deps.now());
  const groups = Map.groupBy(changes, ({ vault_id, began, at }) => `${vault_id} ${began} ${at}`);
  // One statement: travel mode may hide thousands of vaults at once.
  await enqueueEach(
    tx,
    vaultChanged,
    [...groups.values()].flatMap((group) => messagesOf(group, deps)),
  );
  return changes;
}

/** The events for people with one change of visibility of one vault at one time. */
function messagesOf(group: readonly VisibilityChange[], { newId }: Pick<Deps, "newId">) {
  return group.flatMap(({ vault_id, began, at: updated_at }, from) => {
    if (from % maxPeople > 0) return [];
    const user_ids = group.slice(from, from + maxPeople).map(({ user_id }) => user_id);
    const action = began ? ("vault_created" as const) : ("vault_deleted" as const);
    return [{ id: newId(), payload: { action, vault_id, updated_at, user_ids } }];
  });
}
