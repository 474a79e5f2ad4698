import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

// Whose turn it is at a vault: many writers of records together, or one who changes who sees it. Locks on the vault's row
// alone would not do: writers that overlap keep it locked together, and whoever wants it alone waits until, by chance,
// there is none. Of these locks a writer gets none once somebody waits for the whole.

const prefix = "coffer vaults vault ";
/** Postgres has room for some thousands of such locks in all: of more vaults than this at once, the others wait by chance. */
const mostTurns = 100;

const turn = z.object({ taken: z.string() });

/** SQL: whether a writer of a record may go on; if so, its turn lasts until its commit. `id` is SQL too, of type uuid. */
export const tryWritersTurn = (id: string): string =>
  `pg_try_advisory_xact_lock_shared(hashtextextended('${prefix}' || ${id}::text, 0))`;

/** Waits for a turn as a writer of records, which lasts until the transaction ends. */
export async function takeWritersTurn(tx: Queryable, vaultId: string): Promise<void> {
  await tx.one(sql.type(turn)`
    SELECT pg_advisory_xact_lock_shared(hashtextextended(${prefix + vaultId}, 0))::text AS taken
  `);
}

/** Waits until nobody writes records of these vaults; until the transaction ends nobody can. */
export async function takeWholeTurns(tx: Queryable, vaultIds: readonly string[]): Promise<void> {
  const names = [...new Set(vaultIds)].sort().slice(0, mostTurns);
  await tx.any(sql.type(turn)`
    SELECT pg_advisory_xact_lock(number)::text AS taken FROM (
      SELECT hashtextextended(${prefix} || id, 0) AS number
      FROM unnest(${sql.array(names, "text")}) AS vault (id) ORDER BY id
    ) AS numbers
  `);
}
