import { folderChanged } from "@coffer/events";
import type { Deliver } from "@coffer/outbox";
import type { Database } from "@coffer/postgres";
import { insertFolderChanges } from "../store/folders/folder-news.ts";

/**
 * Wraps a delivery so that it also logs published folder changes, for replicas that missed the
 * event. It logs after the bus has accepted the event: an outage logs nothing, and the event is
 * published again later. One insert covers the whole batch, off the path of writers.
 */
export function loggingFolderChanges({ pool }: Pick<Database, "pool">, deliver: Deliver): Deliver {
  return async (subject, payloads) => {
    await deliver(subject, payloads);
    if (subject.subject !== folderChanged.subject) return;
    await insertFolderChanges(
      pool,
      payloads.map((payload) => JSON.stringify(payload)),
    );
  };
}
