import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import { hasOtherManager } from "../store/vault-members.ts";

/**
 * Refuses to take `manage` from the only person who could ever share the vault, change it or delete it.
 * @throws ServiceError `conflict`
 */
export async function requireAnotherManager(tx: Transaction, vaultId: string, userId: string): Promise<void> {
  if (await hasOtherManager(tx, vaultId, userId)) return;
  throw new ServiceError("conflict", "nobody else manages this vault: give manage to somebody first");
}
