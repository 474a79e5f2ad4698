import { ServiceError } from "@coffer/errors";
import type { folderHolders } from "@coffer/events";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { listFolderPeople } from "../store/folder-grants.ts";

type Page = z.infer<typeof folderHolders.output>;

const pageSize = 500;

/**
 * A page of the people who may see a folder now: with a grant that they can use. Of a folder that does not exist nobody.
 * @throws ServiceError `invalid_request` for an `after` that no page had
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
