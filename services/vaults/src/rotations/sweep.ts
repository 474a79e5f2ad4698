import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { dropStagedBefore } from "../store/vaults/vault-rotation.ts";

const lifeMilliseconds = 60 * 60 * 1000;
const limit = 2_000;

/** Drops records that were staged an hour ago and not used. */
export function stagedSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 60_000,
    async batch() {
      const before = new Date(now().getTime() - lifeMilliseconds);
      return (await dropStagedBefore(database.pool, before, limit)) === limit;
    },
    failure: "staged records could not be dropped; a later sweep retries",
  };
}
