import type { Deps } from "../deps.ts";
import {
  countBlocks,
  forgetMoments,
  lockEpoch,
  lockSynced,
  setBack,
  setBackVaults,
  writeEpoch,
} from "../store/sync/sync-epoch.ts";

/** Blocks of 8 KiB per statement, well within the statement timeout. */
const blocksAtOnce = 4096;

/**
 * Begins an epoch: before the first sync of a new schema, or of one that was restored, copied or
 * set back, where stored transaction ids (x) are invalid. Drops all ticks, so that devices sync
 * everything again, and resets x that this server has not reached. Blocks writes meanwhile. Does
 * nothing if another replica has done it.
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
  if (began) telemetry.log.warn("the database is new or was restored: every device syncs everything again");
}
