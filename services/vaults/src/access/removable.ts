import type { Queryable, Transaction } from "@coffer/postgres";
import { type User, userActor } from "@coffer/service";
import { lockPeople } from "../store/people.ts";
import { findVaultAccess } from "../store/vaults/vault-access.ts";
import { lockVaults } from "../store/vaults/vault-locks.ts";
import { isLeftTo } from "../store/vaults/vault-org.ts";
import { usableVault, type UsableVault } from "./vault.ts";

/**
 * A vault that the caller may delete: as its manager, or as an owner or admin of its organization
 * if it has no manager. A vault that travel mode hides from the caller does not exist for them.
 * @throws ServiceError as `usableVault`
 */
export async function requireRemovable(db: Queryable, caller: User, vaultId: string): Promise<UsableVault> {
  const row = await findVaultAccess(db, caller.userId, vaultId);
  if (row === null || row.hidden_by_travel || !(await isLeftTo(db, caller.userId, vaultId)))
    return usableVault(caller, row, "manage");
  return { id: row.id, orgId: row.org_id, type: row.type, keyVersion: row.key_version, actor: userActor(caller) };
}

/** As `requireRemovable`, with the vault locked until the transaction ends. */
export async function requireLockedRemovable(tx: Transaction, caller: User, vaultId: string): Promise<UsableVault> {
  // Only a transaction that locks the person changes the person's role.
  if (await isLeftTo(tx, caller.userId, vaultId)) await lockPeople(tx, [caller.userId]);
  await requireRemovable(tx, caller, vaultId);
  await lockVaults(tx, [vaultId]);
  return requireRemovable(tx, caller, vaultId);
}
