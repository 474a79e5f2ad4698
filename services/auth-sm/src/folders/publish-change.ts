import { folderChanged } from "@coffer/events";
import { enqueueEach } from "@coffer/outbox";
import { type Transaction } from "@coffer/postgres";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { momentOf } from "../moment.ts";

type FolderChanged = z.infer<typeof folderChanged.payload>;

export interface FolderChange {
  folderIds: readonly string[];
  change: FolderChanged["change"];
  /** The time of the change in the format of the columns; now by default. */
  updatedAt?: string;
  /** People to notify besides those who can see the folder: those who no longer can. */
  userIds?: readonly string[];
}

/** Keeps one event well below the size limit of the bus. */
const mostPeople = 5_000;

/** Publishes, when the transaction commits, that these folders have changed. */
export async function publishFolderChange(
  tx: Transaction,
  deps: Pick<Deps, "newId" | "now">,
  { folderIds, change, updatedAt = momentOf(deps.now()), userIds = [] }: FolderChange,
): Promise<void> {
  const about = { change, updated_at: updatedAt };
  const messages = folderIds.flatMap((folder_id) =>
    chunksOf(userIds).map((user_ids) => {
      const id = deps.newId();
      return { id, payload: { id, folder_id, ...about, user_ids } };
    }),
  );
  await enqueueEach(tx, folderChanged, messages);
}

/** Returns at least one chunk. */
function chunksOf(userIds: readonly string[]): string[][] {
  const chunks = [userIds.slice(0, mostPeople)];
  for (let start = mostPeople; start < userIds.length; start += mostPeople)
    chunks.push(userIds.slice(start, start + mostPeople));
  return chunks;
}
