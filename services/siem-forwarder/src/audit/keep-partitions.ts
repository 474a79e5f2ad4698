import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { addPartition } from "../store/partitions.ts";

/** Complete months after the present one that have a partition. */
const monthsAhead = 3;

/** Makes the partitions of the coming months. */
export function partitionSweep(deps: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 60 * 60 * 1_000,
    batch: () => addPartition(deps.database.pool, startOfMonth(deps.now(), monthsAhead)),
    failure: "a partition of the audit could not be made; its records go to the default partition",
  };
}

function startOfMonth(now: Date, monthsLater: number): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + monthsLater)).toISOString();
}
