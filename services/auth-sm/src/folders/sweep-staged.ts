import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { dropStagedBefore } from "../store/secrets/staged-secrets.ts";

const lifeMilliseconds = 60 * 60 * 1000;
const limit = 1_000;

/** Drops secrets that were staged an hour ago and not used. */
export function stagedSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 60_000,
    async batch() {
      const before = new Date(now().getTime() - lifeMilliseconds);
      return (await dropStagedBefore(database.pool, before, limit)) === limit;
    },
    failure: "staged secrets could not be dropped; a later sweep retries",
  };
}
