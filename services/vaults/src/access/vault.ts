import { ServiceError } from "@coffer/errors";
import type { Queryable, Transaction } from "@coffer/postgres";
import type { Actor, User } from "@coffer/service";
import { userActor } from "@coffer/service";
import { holdVault, lockVaults } from "../store/vault-locks.ts";
import type { VaultAccessRow } from "../store/vault-access.ts";
import { findVaultAccess } from "../store/vault-access.ts";
import type { VaultType } from "../store/vaults.ts";
import type { Permission } from "./permission.ts";
import { covers } from "./permission.ts";

/** A vault that the caller may use as asked. */
export interface UsableVault {
  id: string;
  orgId: string | null;
  type: VaultType;
  keyVersion: number;
  actor: Actor;
}

/**
 * The judgement over what a statement has read of a vault and the caller.
 * @throws ServiceError `not_found` for a vault that is absent, of an organization that the caller does not belong to, or
 *   hidden by travel mode, all three alike; `access_denied` for one of the caller's organization that the caller does not
 *   see, and where the permission does not cover what is needed
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

/** The same for what a read-only operation does, as it is now: nothing keeps it so. */
export async function requireVault(
  db: Queryable,
  caller: User,
  vaultId: string,
  needed: Permission,
): Promise<UsableVault> {
  return usableVault(caller, await findVaultAccess(db, caller.userId, vaultId), needed);
}

/**
 * The same for what changes the vault: until the transaction ends nobody else changes the vault, its members or its
 * records, nor who sees it. Comes after `lockPeople`.
 */
export async function requireLockedVault(
  tx: Transaction,
  caller: User,
  vaultId: string,
  needed: Permission,
): Promise<UsableVault> {
  // First without a lock: nobody holds up a vault that is not theirs.
  await requireVault(tx, caller, vaultId, needed);
  await lockVaults(tx, [vaultId]);
  return requireVault(tx, caller, vaultId, needed);
}

/** The same for what writes many records: nobody changes who sees the vault until the transaction ends. */
export async function requireHeldVault(
  tx: Transaction,
  caller: User,
  vaultId: string,
  needed: Permission,
): Promise<UsableVault> {
  await requireVault(tx, caller, vaultId, needed);
  await holdVault(tx, vaultId);
  return requireVault(tx, caller, vaultId, needed);
}

/** No such vault, as far as the caller is told. */
export function vaultNotFound(): ServiceError {
  return new ServiceError("not_found", "vault not found");
}
