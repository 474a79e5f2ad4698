import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { deleteSessionsPast } from "../store/accounts/sessions.ts";

const batch = 1000;

/**
 * Deletes sessions whose last refresh token has expired. A session that was ended earlier stays
 * until then, so that a replay of its token is answered `token_reused`.
 */
export function sessionSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 60 * 60 * 1000,
    batch: async () => (await deleteSessionsPast(database.pool, { now: now(), limit: batch })) === batch,
    failure: "cannot delete expired sessions now; a later sweep retries",
  };
}
