import { recordCounts } from "./replica.ts";
import type { Replica } from "./replica.ts";

/** Vaults whose records are to be counted. */
export interface ShortVaults {
  count(vaultId: string): void;
  /**
   * Whether another number of records is held of one than the service counts, so that what is there is to be asked for
   * again: once more from where we are, since there may have been a change between answer and count; then from nothing,
   * for each vault once.
   */
  areThere(): boolean;
}

/** `recounted` are vaults for whose sake everything was asked for anew already. */
export function shortVaults(replica: Replica, recounted: Set<string>): ShortVaults {
  const toCount = new Set<string>();
  let doubted = false;
  return {
    count: (vaultId) => void toCount.add(vaultId),
    areThere() {
      const counts = recordCounts(replica);
      const short = [...toCount].filter((id) => {
        const view = replica.vaults.get(id);
        return view !== undefined && view.record_count !== (counts.get(id) ?? 0) && !recounted.has(id);
      });
      const again = short.length > 0;
      if (!again) toCount.clear();
      else if (doubted) {
        for (const id of short) recounted.add(id);
        replica.serverTime = undefined;
      }
      doubted = again && !doubted;
      return again;
    },
  };
}
