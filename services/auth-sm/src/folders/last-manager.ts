import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import { hasOtherManager } from "../store/folder-grants.ts";

/**
 * Refuses to take `manage` from the only person who could ever grant the folder to anybody.
 * @throws ServiceError `conflict`
 */
export async function requireAnotherManager(tx: Transaction, folderId: string, userId: string): Promise<void> {
  if (await hasOtherManager(tx, folderId, userId)) return;
  throw new ServiceError("conflict", "nobody else manages this folder: grant manage to somebody first");
}
