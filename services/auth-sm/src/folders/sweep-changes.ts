import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { type ChangeMoment, deleteFolderChanges, findPresent } from "../store/folders/folder-news.ts";

const limit = 1_000;
/** A replica that was away for longer reads everything again. */
const retentionSeconds = 60 * 60;

/**
 * Deletes folder changes that no replica will request. A change also stays while it is newer than
 * the moment of the previous sweep: while a long transaction runs, every replica's moment is older
 * than its start, and a replica that requests changes would have to start over each time.
 */
export function folderChangesSweep({ database: { pool } }: Pick<Deps, "database">): Sweep {
  let before: ChangeMoment | undefined;
  return {
    everyMilliseconds: 60_000,
    async batch() {
      const present = await findPresent(pool);
      const more =
        before !== undefined &&
        (await deleteFolderChanges(pool, { seconds: retentionSeconds, before, limit })) === limit;
      if (!more) before = present;
      return more;
    },
    failure: "cannot delete old folder changes now; a later sweep retries",
  };
}
