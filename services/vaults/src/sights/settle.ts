import { vaultChanged } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import { enqueueEach } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { SightChange, SightScope } from "../store/sights.ts";
import { settle } from "../store/sights.ts";

/** As many people as one event names. */
export const mostPeople = 1_000;

/**
 * Brings who sees what up to date after one of its causes has changed (a membership, a member of a vault, travel mode,
 * the vault's flag, its deletion), and tells their devices. The caller holds the people and the vaults of the scope
 * (`lockPeople`, then `lockVaults`): so nobody writes records of these vaults, and what the snapshots of the sights say
 * was seen is exact. Nothing else begins or ends a sight.
 */
export async function settleSights(
  tx: Transaction,
  deps: Pick<Deps, "newId" | "now">,
  scope: SightScope,
): Promise<readonly SightChange[]> {
  const changes = await settle(tx, scope, deps.now());
  const groups = Map.groupBy(changes, ({ vault_id, began, at }) => `${vault_id} ${began} ${at}`);
  // All in one statement: who travels may lose thousands of vaults at once.
  await enqueueEach(
    tx,
    vaultChanged,
    [...groups.values()].flatMap((group) => messagesOf(group, deps)),
  );
  return changes;
}

/** What is told of people for whom the same vault began or ended at the same time. */
function messagesOf(group: readonly SightChange[], { newId }: Pick<Deps, "newId">) {
  return group.flatMap(({ vault_id, began, at: updated_at }, from) => {
    if (from % mostPeople > 0) return [];
    const user_ids = group.slice(from, from + mostPeople).map(({ user_id }) => user_id);
    const action = began ? ("vault_created" as const) : ("vault_deleted" as const);
    return [{ id: newId(), payload: { action, vault_id, updated_at, user_ids } }];
  });
}
