import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import type { FolderNewsMoment } from "../store/folder-news.ts";
import { findPresent, sweepFolderNews } from "../store/folder-news.ts";

const limit = 1_000;
/** Who was away for longer starts over. */
const keptSeconds = 60 * 60;

/**
 * Takes away what was told of folders so long ago that nobody asks for it. However old: as long as a transaction is under
 * way that is older than the news, everybody's moment is from before them, and who asks would be told to start over each
 * time. So only what was noted before the moment of the sweep before this one: by now who asks has a later moment.
 */
export function folderNewsSweep({ database: { pool } }: Pick<Deps, "database">): Sweep {
  let before: FolderNewsMoment | undefined;
  return {
    everyMilliseconds: 60_000,
    async batch() {
      const present = await findPresent(pool);
      const more =
        before !== undefined && (await sweepFolderNews(pool, { seconds: keptSeconds, before, limit })) === limit;
      if (!more) before = present;
      return more;
    },
    failure: "news of folders cannot be removed now; a later sweep will",
  };
}
