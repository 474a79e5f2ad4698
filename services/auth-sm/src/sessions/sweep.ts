import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { deleteSessionsPast } from "../store/sessions.ts";

const batch = 1000;

/**
 * Takes away sessions whose last refresh token has expired. Those that were ended before stay until then: a token of
 * theirs that is shown again is told what it is (`token_reused`).
 */
export function sessionSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 60 * 60 * 1000,
    batch: async () => (await deleteSessionsPast(database.pool, { now: now(), limit: batch })) === batch,
    failure: "sessions of the past cannot be removed now; a later sweep will",
  };
}
