import { folderChanged } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import { enqueueEach } from "@coffer/postgres";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { momentOf } from "../moment.ts";

type FolderNews = z.infer<typeof folderChanged.payload>;

/** What changed of which folders. */
export interface FolderChange {
  folderIds: readonly string[];
  change: FolderNews["change"];
  /** When, as columns have it; now unless told. */
  updatedAt?: string;
  /** Who is told besides those who may see a folder: who may not any more. */
  userIds?: readonly string[];
}

/** As many in one event as the bus carries with ease. */
const mostPeople = 5_000;

/** Tells, when the transaction commits, everybody who may see these folders that they have changed. */
export async function tellFolderChange(
  tx: Transaction,
  deps: Pick<Deps, "newId" | "now">,
  { folderIds, change, updatedAt = momentOf(deps.now()), userIds = [] }: FolderChange,
): Promise<void> {
  const about = { change, updated_at: updatedAt };
  const messages = folderIds.flatMap((folder_id) =>
    partsOf(userIds).map((user_ids) => {
      const id = deps.newId();
      return { id, payload: { id, folder_id, ...about, user_ids } };
    }),
  );
  await enqueueEach(tx, folderChanged, messages);
}

/** At least one. */
function partsOf(userIds: readonly string[]): string[][] {
  const parts = [userIds.slice(0, mostPeople)];
  for (let start = mostPeople; start < userIds.length; start += mostPeople)
    parts.push(userIds.slice(start, start + mostPeople));
  return parts;
}
