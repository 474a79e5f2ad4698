import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { emptyVault, takeFullVault } from "../store/vaults/vault-removal.ts";

/** Records per batch, well within the statement timeout. */
const limit = 2_000;

/**
 * Deletes the records of deleted vaults: after a nudge at once, and periodically the rest of other
 * replicas. A vault that fails does not block the others.
 */
export function emptySweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  /** Vaults whose last attempt failed, the latest last. */
  const failed = new Set<string>();
  return {
    everyMilliseconds: 10_000,
    async batch() {
      const done = await database.transaction(async (tx) => {
        const vault = await takeFullVault(tx, [...failed]);
        if (vault === null) return null;
        failed.delete(vault.id);
        failed.add(vault.id);
        await emptyVault(tx, vault, { now: now(), limit });
        return vault.id;
      });
      if (done === null) failed.clear();
      else failed.delete(done);
      return done !== null;
    },
    failure: "the records of deleted vaults could not be deleted; a later sweep retries",
  };
}
