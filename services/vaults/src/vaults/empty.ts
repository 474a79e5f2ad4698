import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { emptyVault, takeFullVault } from "../store/vault-removal.ts";

/** So many records go well within the time of a statement, and hold up nobody meanwhile. */
const limit = 2_000;

/**
 * Deletes the records of deleted vaults: told of each deletion, and by itself what another replica has left. A vault of
 * which that fails holds up no other.
 */
export function emptySweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  /** What was tried last and did not go well, the latest last. */
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
    failure: "the records of deleted vaults cannot be removed now; a later sweep will",
  };
}
