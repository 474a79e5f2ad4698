import { folderChanged } from "@coffer/events";
import type { Database, Deliver } from "@coffer/postgres";
import { insertFolderNews } from "../store/folder-news.ts";

/**
 * Makes a delivery that notes what was told of folders, for who has not heard it. After the bus has it, so that an outage
 * notes nothing: what is not noted yet is not told yet, or is told once more. For all that is delivered together, so that
 * no writer waits for it.
 */
export function notingFolderNews({ pool }: Pick<Database, "pool">, deliver: Deliver): Deliver {
  return async (subject, payloads) => {
    await deliver(subject, payloads);
    if (subject.subject !== folderChanged.subject) return;
    await insertFolderNews(
      pool,
      payloads.map((payload) => JSON.stringify(payload)),
    );
  };
}
