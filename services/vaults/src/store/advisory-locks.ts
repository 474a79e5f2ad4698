import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

// Advisory locks of a vault: shared by writers of records, exclusive for a change of visibility.
// Without them, a transaction that needs the row exclusively can starve behind overlapping writers.
// Postgres queues advisory locks: once an exclusive lock waits, writers wait behind it.

const prefix = "coffer vaults vault ";
/** Postgres has a few thousand locks in all. Vaults beyond this number use row locks only. */
const maxLocks = 100;

const lock = z.object({ taken: z.string() });

/** SQL: takes the shared lock until the commit, if it is free. `id` is SQL of type uuid. */
export const tryWriterLock = (id: string): string =>
  `pg_try_advisory_xact_lock_shared(hashtextextended('${prefix}' || ${id}::text, 0))`;

/** Waits for the shared lock of a writer; holds it until the transaction ends. */
export async function takeWriterLock(tx: Queryable, vaultId: string): Promise<void> {
  await tx.one(sql.type(lock)`
    SELECT pg_advisory_xact_lock_shared(hashtextextended(${prefix + vaultId}, 0))::text AS taken
  `);
}

/** Waits for the exclusive locks of these vaults; holds them until the transaction ends. */
export async function takeExclusiveLocks(tx: Queryable, vaultIds: readonly string[]): Promise<void> {
  const names = [...new Set(vaultIds)].sort().slice(0, maxLocks);
  await tx.any(sql.type(lock)`
    SELECT pg_advisory_xact_lock(number)::text AS taken FROM (
      SELECT hashtextextended(${prefix} || id, 0) AS number
      FROM unnest(${sql.array(names, "text")}) AS vault (id) ORDER BY id
    ) AS numbers
  `);
}
