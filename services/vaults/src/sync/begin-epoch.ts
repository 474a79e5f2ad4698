import type { Deps } from "../deps.ts";
import {
  countBlocks,
  forgetMoments,
  lockEpoch,
  lockSynced,
  setBack,
  setBackVaults,
  writeEpoch,
} from "../store/sync-epoch.ts";

/** So many blocks of 8 KiB are gone through at once: well within the time that a statement may take. */
const blocksAtOnce = 4096;

/**
 * What has to happen before the first sync of a new schema, and of one that was restored on another server, copied, or
 * set back to an earlier moment: its x mean nothing any more. Every moment that devices know is forgotten, so that they
 * get everything anew; x that this server has not reached are set back. Nothing is written meanwhile. Does nothing when
 * another replica has just done it.
 */
export async function beginEpoch({ database, now, telemetry }: Pick<Deps, "database" | "now" | "telemetry">) {
  const began = await database.transaction(async (tx) => {
    if (await lockEpoch(tx)) return false;
    const nextX = await lockSynced(tx);
    await forgetMoments(tx);
    await setBackVaults(tx, nextX);
    for (const table of ["records", "tombstones"] as const) {
      const blocks = await countBlocks(tx, table);
      for (let from = 0; from < blocks; from += blocksAtOnce) {
        await setBack(tx, table, { from, to: Math.min(from + blocksAtOnce, blocks), nextX });
      }
    }
    await writeEpoch(tx, now());
    return true;
  });
  if (began)
    telemetry.log.warn("a new database, or one that was restored: every device gets everything at its next sync");
}
