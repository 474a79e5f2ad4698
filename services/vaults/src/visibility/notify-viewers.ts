import { vaultChanged } from "@coffer/events";
import { enqueueEach } from "@coffer/outbox";
import { type Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { VisibilityChange } from "../store/sync/visibility.ts";
import { maxPeople } from "./recompute.ts";

/**
 * Enqueues `vault_updated` for everyone who sees these vaults, except people who gained the
 * vault by this change: `recomputeVisibility` has enqueued `vault_created` for them.
 * @param visibility what `recomputeVisibility` returned
 */
export async function notifyViewers(
  tx: Transaction,
  { newId }: Pick<Deps, "newId">,
  changed: readonly { id: string; updated_at: string }[],
  visibility: readonly VisibilityChange[],
): Promise<void> {
  const begun = Map.groupBy(
    visibility.filter(({ began }) => began),
    ({ vault_id }) => vault_id,
  );
  await enqueueEach(
    tx,
    vaultChanged,
    changed.map(({ id, updated_at }) => {
      const given = begun.get(id)?.slice(0, maxPeople);
      const except = given && { except: given.map(({ user_id }) => user_id) };
      return { id: newId(), payload: { action: "vault_updated", vault_id: id, updated_at, user_ids: null, ...except } };
    }),
  );
}
