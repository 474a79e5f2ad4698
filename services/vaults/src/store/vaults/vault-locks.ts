import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { takeExclusiveLocks, takeWriterLock } from "../advisory-locks.ts";

// Lock order: people by id, then vaults by id (docs/adr/0014). A change of visibility locks the
// vault's row exclusively; writers of records share the lock.

/** Locks these vaults exclusively until the transaction ends. Returns the ids that exist. */
export async function lockVaults(tx: Queryable, vaultIds: readonly string[]): Promise<readonly string[]> {
  await takeExclusiveLocks(tx, vaultIds);
  return tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM vaults WHERE id = ANY(${sql.array([...vaultIds], "uuid")}) ORDER BY id FOR UPDATE
  `);
}

/** Locks a vault, shared with other writers of its records, until the transaction ends. */
export async function holdVault(tx: Queryable, vaultId: string): Promise<void> {
  await takeWriterLock(tx, vaultId);
  await tx.any(sql.type(z.object({ id: z.string() }))`SELECT id FROM vaults WHERE id = ${vaultId} FOR KEY SHARE`);
}
