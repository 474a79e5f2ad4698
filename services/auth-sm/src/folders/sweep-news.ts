import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { sweepFolderNews } from "../store/folder-news.ts";

const limit = 1_000;
/** Who was away for longer starts over. */
const keptSeconds = 60 * 60;

/** Takes away what was told of folders so long ago that nobody asks for it. */
export function folderNewsSweep({ database }: Pick<Deps, "database">): Sweep {
  return {
    everyMilliseconds: 60_000,
    batch: async () => (await sweepFolderNews(database.pool, { seconds: keptSeconds, limit })) === limit,
    failure: "news of folders cannot be removed now; a later sweep will",
  };
}
