import { ServiceError } from "@coffer/errors";
import type { folderHolders } from "@coffer/events";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { listFolderPeople } from "../store/folders/folder-grants.ts";

type Page = z.infer<typeof folderHolders.output>;

const pageSize = 500;

/**
 * One page of the people who can see a folder now: those with a usable grant. Empty for an unknown
 * folder.
 * @throws ServiceError `invalid_request` for an `after` that no page returned
 */
export async function listReaders(
  { database }: Pick<Deps, "database">,
  { folder_id: folderId, after }: z.infer<typeof folderHolders.input>,
): Promise<Page> {
  if (after !== null && !z.uuid().safeParse(after).success) {
    throw new ServiceError("invalid_request", "after: not the end of a page");
  }
  const found = await listFolderPeople(database.pool, folderId, { after, limit: pageSize });
  return { user_ids: [...found], after: found.length < pageSize ? null : (found.at(-1) ?? null) };
}
