import { type Fragment, type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

// Locks on a person's memberships. They are advisory locks because shared row locks can starve an
// exclusive request: a person who keeps writing could delay their own removal. Postgres grants
// advisory locks in the order of the requests.

const locked = z.object({ locked: z.string() });

const lockNumber = (id: Fragment) => sql.fragment`hashtextextended('coffer auth-sm person ' || ${id}, 0)`;

/**
 * Shared lock until the transaction ends: blocks the removal, suspension and demotion of these
 * people.
 */
export async function holdPeople(tx: Queryable, userIds: readonly string[]): Promise<void> {
  await tx.any(sql.type(locked)`
    SELECT pg_advisory_xact_lock_shared(number)::text AS locked FROM (
      SELECT ${lockNumber(sql.fragment`id`)} AS number
      FROM unnest(${sql.array([...userIds], "text")}) AS person (id) ORDER BY number
    ) AS numbers
  `);
}

/**
 * Exclusive lock until the transaction ends: waits for the person's running writes and blocks new
 * ones.
 */
export async function lockPerson(tx: Queryable, userId: string): Promise<void> {
  await tx.one(sql.type(locked)`
    SELECT pg_advisory_xact_lock(${lockNumber(sql.fragment`${userId}`)})::text AS locked
  `);
}
