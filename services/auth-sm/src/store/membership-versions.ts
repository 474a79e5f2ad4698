import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

// Versions of memberships come from one sequence. Of one membership they only grow, over removal and return too: whoever
// changes who is in an organization locks the organization's row first (`lockMembers`; an organization that is being founded
// is nobody else's yet), so that the next number is drawn after the commit of the one before.
//
// Numbers of different memberships may commit in another order than they were drawn. Whoever draws one holds this lock
// together with the others until the commit, so that whoever waits for all of it knows that every number drawn so far is
// committed or given up.
const drawing = sql.fragment`hashtextextended('coffer auth-sm membership versions', 0)`;

/**
 * The next version, for a membership that is locked. Drawn late in a transaction: the lock should not be held for long.
 */
export function drawMembershipVersion(tx: Queryable): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ version: z.number() }))`
    WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(${drawing})::text AS locked)
    SELECT nextval('membership_versions') AS version FROM held WHERE locked IS NOT NULL
  `);
}

/** Waits until every version that was drawn is committed or given up, and returns the last; 0 when there is none. */
export async function settleMembershipVersions(tx: Queryable): Promise<number> {
  await tx.one(sql.type(z.object({ locked: z.string() }))`SELECT pg_advisory_xact_lock(${drawing})::text AS locked`);
  return tx.oneFirst(sql.type(z.object({ version: z.number() }))`
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS version FROM membership_versions
  `);
}
