import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

// Whose turn it is to write below a folder: many writers of secrets together, or one who changes the whole folder. Locks on
// the folder's row alone would not do: writers that overlap keep it locked together, and whoever wants all of it waits
// until, by chance, there is none. Of these locks a writer gets none once somebody waits for the whole.

const prefix = "coffer auth-sm folder ";

/** SQL: whether a writer of a secret may go on; if so, its turn lasts until its commit. `id` is SQL too, of type uuid. */
export const tryWritersTurn = (id: string): string =>
  `pg_try_advisory_xact_lock_shared(hashtextextended('${prefix}' || ${id}::text, 0))`;

/** Waits until nobody writes below the folder; until the transaction ends nobody can. */
export async function takeWholeTurn(tx: Queryable, folderId: string): Promise<void> {
  await tx.one(sql.type(z.object({ taken: z.string() }))`
    SELECT pg_advisory_xact_lock(hashtextextended(${prefix + folderId}, 0))::text AS taken
  `);
}
