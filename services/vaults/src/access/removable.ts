import type { Queryable, Transaction } from "@coffer/postgres";
import type { User } from "@coffer/service";
import { userActor } from "@coffer/service";
import { lockPeople } from "../store/people.ts";
import { findVaultAccess } from "../store/vault-access.ts";
import { lockVaults } from "../store/vault-locks.ts";
import { isLeftTo } from "../store/vault-org.ts";
import type { UsableVault } from "./vault.ts";
import { usableVault } from "./vault.ts";

/**
 * A vault that the caller may delete: one that the caller manages, or that nobody manages, for an owner or admin of its
 * organization, member of it or not. One that travel mode hides from them is as absent as for any other request.
 * @throws ServiceError as `usableVault`
 */
export async function requireRemovable(db: Queryable, caller: User, vaultId: string): Promise<UsableVault> {
  const row = await findVaultAccess(db, caller.userId, vaultId);
  if (row === null || row.hidden_by_travel || !(await isLeftTo(db, caller.userId, vaultId)))
    return usableVault(caller, row, "manage");
  return { id: row.id, orgId: row.org_id, type: row.type, keyVersion: row.key_version, actor: userActor(caller) };
}

/** The same, and until the transaction ends it stays so. */
export async function requireLockedRemovable(tx: Transaction, caller: User, vaultId: string): Promise<UsableVault> {
  // Who deletes it by a role keeps the role: that is changed only by who holds the person.
  if (await isLeftTo(tx, caller.userId, vaultId)) await lockPeople(tx, [caller.userId]);
  await requireRemovable(tx, caller, vaultId);
  await lockVaults(tx, [vaultId]);
  return requireRemovable(tx, caller, vaultId);
}
