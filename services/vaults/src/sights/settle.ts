import { vaultChanged } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import { enqueue } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { SightChange, SightScope } from "../store/sights.ts";
import { settle } from "../store/sights.ts";

/** As many people as one event names. */
const mostPeople = 1_000;

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
  const at = `${deps.now().toISOString().slice(0, -1)}000Z`;
  const changes = await settle(tx, scope, at);
  const groups = Map.groupBy(changes, ({ vault_id, began }) => `${vault_id} ${began}`);
  for (const group of groups.values()) {
    const [{ vault_id, began } = { vault_id: "", began: false }] = group;
    for (let from = 0; from < group.length; from += mostPeople) {
      const user_ids = group.slice(from, from + mostPeople).map(({ user_id }) => user_id);
      const action = began ? "vault_created" : "vault_deleted";
      await enqueue(tx, vaultChanged, { action, vault_id, updated_at: at, user_ids }, { id: deps.newId() });
    }
  }
  return changes;
}
