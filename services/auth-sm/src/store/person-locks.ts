import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

// Locks on what a person is in organizations. They are Postgres's advisory locks, not locks on the rows: those who hold a
// row together let others in while somebody waits to change it, so that a person who keeps writing could put off being
// removed. Here whoever waits to change goes before those who come later.

const locked = z.object({ locked: z.string() });

const lockNumber = (id: ReturnType<typeof sql.fragment>) =>
  sql.fragment`hashtextextended('coffer auth-sm person ' || ${id}, 0)`;

/** Keeps what these people are as it is until the transaction ends: who removes, suspends or demotes them waits. */
export async function holdPeople(tx: Queryable, userIds: readonly string[]): Promise<void> {
  await tx.any(sql.type(locked)`
    SELECT pg_advisory_xact_lock_shared(number)::text AS locked FROM (
      SELECT ${lockNumber(sql.fragment`id`)} AS number
      FROM unnest(${sql.array([...userIds], "text")}) AS person (id) ORDER BY number
    ) AS numbers
  `);
}

/** Waits until this person does nothing; until the transaction ends the person cannot begin anything. */
export async function lockPerson(tx: Queryable, userId: string): Promise<void> {
  await tx.one(sql.type(locked)`
    SELECT pg_advisory_xact_lock(${lockNumber(sql.fragment`${userId}`)})::text AS locked
  `);
}
