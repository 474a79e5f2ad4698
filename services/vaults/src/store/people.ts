import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

const person = z.object({ user_id: z.string(), travelling: z.boolean(), travel_changed_at: z.string().nullable() });
export type PersonRow = z.infer<typeof person>;

const columns = sql.fragment`user_id, travelling, travel_changed_at`;

/** What is known of a person; null for one who never had to do with vaults. */
export function findPerson(db: Queryable, userId: string): Promise<PersonRow | null> {
  return db.maybeOne(sql.type(person)`SELECT ${columns} FROM people WHERE user_id = ${userId}`);
}

/**
 * These people, locked until the transaction ends: what they see is changed by nobody else. Comes before the locks on
 * vaults (docs/adr/0014). Who is not known yet is noted.
 */
export async function lockPeople(tx: Queryable, userIds: readonly string[]): Promise<readonly PersonRow[]> {
  const ids = sql.array([...new Set(userIds)].sort(), "uuid");
  await tx.query(sql.typeAlias("void")`
    INSERT INTO people (user_id) SELECT id FROM unnest(${ids}) AS person (id) ORDER BY id ON CONFLICT DO NOTHING
  `);
  return tx.any(sql.type(person)`
    SELECT ${columns} FROM people WHERE user_id = ANY(${ids}) ORDER BY user_id FOR UPDATE
  `);
}
