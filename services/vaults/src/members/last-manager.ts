import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import { hasOtherManager } from "../store/vaults/vault-members.ts";

/**
 * Refuses to remove the last manager.
 * @throws ServiceError `conflict`
 */
export async function requireAnotherManager(tx: Transaction, vaultId: string, userId: string): Promise<void> {
  if (await hasOtherManager(tx, vaultId, userId)) return;
  throw new ServiceError(
    "conflict",
    "this person is the only manager of the vault: give manage to another member first",
  );
}
