import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { emptyDeletedVault } from "../store/vault-removal.ts";

/** So many records go well within the time of a statement, and hold up nobody meanwhile. */
const limit = 2_000;

/** Deletes the records of deleted vaults: told of each deletion, and by itself what another replica has left. */
export function emptySweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 10_000,
    batch: () => database.transaction((tx) => emptyDeletedVault(tx, { now: now(), limit })),
    failure: "the records of deleted vaults cannot be removed now; a later sweep will",
  };
}
