import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

// Versions of memberships come from one sequence. The versions of one membership increase, also
// across removal and return: every change locks the organization's row first (`lockMembers`; a new
// organization is visible to no other transaction), so the next number is drawn after the previous
// commit. Numbers of different memberships may commit in another order. Each transaction that draws
// one holds this lock (shared) until its commit, so that a holder of the exclusive lock knows that
// every number drawn so far is committed or rolled back.
const drawing = sql.fragment`hashtextextended('coffer auth-sm membership versions', 0)`;

/**
 * The next version for a locked membership. Draw it late in a transaction, because it takes the
 * shared lock.
 */
export function drawMembershipVersion(tx: Queryable): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ version: z.number() }))`
    WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(${drawing})::text AS locked)
    SELECT nextval('membership_versions') AS version FROM held WHERE locked IS NOT NULL
  `);
}

/**
 * Waits until every drawn version is committed or rolled back, and returns the last; 0 when there
 * is none.
 */
export async function awaitMembershipVersions(tx: Queryable): Promise<number> {
  await tx.one(sql.type(z.object({ locked: z.string() }))`SELECT pg_advisory_xact_lock(${drawing})::text AS locked`);
  return tx.oneFirst(sql.type(z.object({ version: z.number() }))`
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS version FROM membership_versions
  `);
}
