import { vaultChanged } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import { enqueueEach } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { SightChange } from "../store/sights.ts";
import { mostPeople } from "./settle.ts";

/**
 * Tells the devices of everybody who sees these vaults that something about them has changed. To whom the same change has
 * given a vault, `settleSights` has told that, and nothing else is told.
 * @param sights what it returned
 */
export async function tellChanged(
  tx: Transaction,
  { newId }: Pick<Deps, "newId">,
  changed: readonly { id: string; updated_at: string }[],
  sights: readonly SightChange[],
): Promise<void> {
  const begun = Map.groupBy(
    sights.filter(({ began }) => began),
    ({ vault_id }) => vault_id,
  );
  await enqueueEach(
    tx,
    vaultChanged,
    changed.map(({ id, updated_at }) => {
      const given = begun.get(id)?.slice(0, mostPeople);
      const except = given && { except: given.map(({ user_id }) => user_id) };
      return { id: newId(), payload: { action: "vault_updated", vault_id: id, updated_at, user_ids: null, ...except } };
    }),
  );
}
