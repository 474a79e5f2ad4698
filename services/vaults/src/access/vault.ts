import { covers, type Permission } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { Actor } from "@coffer/http";
import type { Queryable, Transaction } from "@coffer/postgres";
import { type User, userActor } from "@coffer/service";
import { holdVault, lockVaults } from "../store/vaults/vault-locks.ts";
import { findVaultAccess, type VaultAccessRow } from "../store/vaults/vault-access.ts";
import type { VaultType } from "../store/vaults/vaults.ts";

/** A vault that the caller may use with the needed permission. */
export interface UsableVault {
  id: string;
  orgId: string | null;
  type: VaultType;
  keyVersion: number;
  actor: Actor;
}

/**
 * Authorizes the caller by the row that was read of the vault.
 * @throws ServiceError `not_found` if the vault is absent, of an organization of others, or hidden
 *   by travel mode; `access_denied` if it is invisible in the caller's organization or the
 *   permission does not cover `needed`
 */
export function usableVault(caller: User, row: VaultAccessRow | null, needed: Permission): UsableVault {
  if (row === null || (!row.seen && (row.hidden_by_travel || !row.belongs))) throw vaultNotFound();
  if (!row.seen || row.permission === null) {
    throw new ServiceError("access_denied", "this vault is not shared with you");
  }
  if (!covers(row.permission, needed)) {
    throw new ServiceError("access_denied", `you have no ${needed} permission on this vault`);
  }
  return {
    id: row.id,
    orgId: row.org_id,
    type: row.type,
    keyVersion: row.key_version,
    actor: userActor(caller),
  };
}

/** Authorizes a read-only operation, without a lock. */
export async function requireVault(
  db: Queryable,
  caller: User,
  vaultId: string,
  needed: Permission,
): Promise<UsableVault> {
  return usableVault(caller, await findVaultAccess(db, caller.userId, vaultId), needed);
}

/**
 * Authorizes a change of the vault. Locks the vault exclusively until the transaction ends: its
 * members, its records and its visibility cannot change meanwhile. Call it after `lockPeople`.
 */
export function requireLockedVault(
  tx: Transaction,
  caller: User,
  vaultId: string,
  needed: Permission,
): Promise<UsableVault> {
  return requireUnderLock(tx, caller, { vaultId, needed, lock: () => lockVaults(tx, [vaultId]) });
}

/** Authorizes a write of many records, under a shared lock: visibility cannot change meanwhile. */
export function requireHeldVault(
  tx: Transaction,
  caller: User,
  vaultId: string,
  needed: Permission,
): Promise<UsableVault> {
  return requireUnderLock(tx, caller, { vaultId, needed, lock: () => holdVault(tx, vaultId) });
}

async function requireUnderLock(
  tx: Transaction,
  caller: User,
  { vaultId, needed, lock }: { vaultId: string; needed: Permission; lock: () => Promise<unknown> },
): Promise<UsableVault> {
  // First without a lock, so that a caller without access cannot block the vault.
  await requireVault(tx, caller, vaultId, needed);
  await lock();
  return requireVault(tx, caller, vaultId, needed);
}

export function vaultNotFound(): ServiceError {
  return new ServiceError("not_found", "vault not found");
}
