import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { deleteRetiredSetups, deleteRetiredSigningKeys } from "../store/server-keys.ts";
import { settlingMilliseconds } from "./settled.ts";

/** Clocks of replicas differ. */
const toleranceMilliseconds = 60_000;
/** Nobody has begun anything with a setup that ceased to be the newest so long ago. */
const setupMilliseconds = 60 * 60_000;

/**
 * Takes away keys that have been replaced: a signing key when no token of it lives any more, an OPAQUE setup with the
 * last record that names it.
 */
export function keySweep({ config, database, now }: Pick<Deps, "config" | "database" | "now">): Sweep {
  return {
    everyMilliseconds: 5000,
    async batch() {
      const at = now().getTime();
      const tokenMilliseconds = config.COFFER_ACCESS_TOKEN_SECONDS * 1000 + toleranceMilliseconds;
      await deleteRetiredSigningKeys(database.pool, new Date(at - settlingMilliseconds - tokenMilliseconds));
      await deleteRetiredSetups(database.pool, new Date(at - settlingMilliseconds - setupMilliseconds));
      return false;
    },
    failure: "keys that have been replaced cannot be removed now; a later sweep will",
  };
}
