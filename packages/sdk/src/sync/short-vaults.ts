import { recordCounts, type Replica } from "./replica.ts";

/** Vaults whose records are to be counted. */
export interface ShortVaults {
  count(vaultId: string): void;
  /**
   * Whether the replica of a vault has another number of records than the service counts, so that a
   * sync must be repeated: first from the current moment, since there may have been a change
   * between response and count, then from nothing, once per vault.
   */
  areThere(): boolean;
}

/** `recounted`: vaults for which a full sync was requested already. */
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
