import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { takeWholeTurns, takeWritersTurn } from "./vault-turn.ts";

// Locks come in one order: people by id, then vaults by id (docs/adr/0014). Whoever changes who sees a vault holds its
// row alone; whoever writes records holds it together with other writers.

/** These vaults alone, until the transaction ends; the ids of those that there are. */
export async function lockVaults(tx: Queryable, vaultIds: readonly string[]): Promise<readonly string[]> {
  await takeWholeTurns(tx, vaultIds);
  return tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM vaults WHERE id = ANY(${sql.array([...vaultIds], "uuid")}) ORDER BY id FOR UPDATE
  `);
}

/** A vault together with other writers of its records, until the transaction ends. */
export async function holdVault(tx: Queryable, vaultId: string): Promise<void> {
  await takeWritersTurn(tx, vaultId);
  await tx.any(sql.type(z.object({ id: z.string() }))`SELECT id FROM vaults WHERE id = ${vaultId} FOR KEY SHARE`);
}
