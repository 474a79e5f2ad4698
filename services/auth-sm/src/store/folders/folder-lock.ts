import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

// The lock on writes below a folder: shared by writers of secrets, exclusive for a change of the
// whole folder. Locks on the folder's row alone are not enough: overlapping writers could hold
// shared row locks without end, and a writer that needs the exclusive lock would starve. These
// advisory locks are not granted to new writers while an exclusive request waits.

const prefix = "coffer auth-sm folder ";

/**
 * SQL: takes the shared lock of a writer until the commit, or returns false. `id` is SQL of type
 * uuid.
 */
export const tryWriterLock = (id: string): string =>
  `pg_try_advisory_xact_lock_shared(hashtextextended('${prefix}' || ${id}::text, 0))`;

/** Waits for all writers below the folder and blocks new ones until the transaction ends. */
export async function lockWholeFolder(tx: Queryable, folderId: string): Promise<void> {
  await tx.one(sql.type(z.object({ taken: z.string() }))`
    SELECT pg_advisory_xact_lock(hashtextextended(${prefix + folderId}, 0))::text AS taken
  `);
}
