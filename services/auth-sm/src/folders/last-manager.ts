import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import { hasOtherManager } from "../store/folders/folder-grants.ts";

/**
 * Refuses to remove `manage` from a folder's only manager: no one could grant the folder again.
 * @throws ServiceError `conflict`
 */
export async function requireAnotherManager(tx: Transaction, folderId: string, userId: string): Promise<void> {
  if (await hasOtherManager(tx, folderId, userId)) return;
  throw new ServiceError("conflict", "no one else manages this folder: grant manage to another member first");
}
