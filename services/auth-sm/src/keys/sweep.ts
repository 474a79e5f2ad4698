import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { deleteRetiredSetups, deleteRetiredSigningKeys } from "../store/accounts/server-keys.ts";
import { activationMilliseconds } from "./active-key.ts";

/** The clocks of replicas differ. */
const toleranceMilliseconds = 60_000;
/**
 * No operation that started with a setup is still pending this long after the setup was replaced.
 */
const setupMilliseconds = 60 * 60_000;

/**
 * Deletes replaced keys: a signing key when all its tokens have expired, an OPAQUE setup when no
 * record names it.
 */
export function keySweep({ config, database, now }: Pick<Deps, "config" | "database" | "now">): Sweep {
  return {
    everyMilliseconds: 5000,
    async batch() {
      const at = now().getTime();
      const tokenMilliseconds = config.COFFER_ACCESS_TOKEN_SECONDS * 1000 + toleranceMilliseconds;
      await deleteRetiredSigningKeys(database.pool, new Date(at - activationMilliseconds - tokenMilliseconds));
      await deleteRetiredSetups(database.pool, new Date(at - activationMilliseconds - setupMilliseconds));
      return false;
    },
    failure: "cannot delete replaced keys now; a later sweep retries",
  };
}
