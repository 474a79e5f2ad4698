import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

const person = z.object({ user_id: z.string(), travelling: z.boolean(), travel_changed_at: z.string().nullable() });
export type PersonRow = z.infer<typeof person>;

const columns = sql.fragment`user_id, travelling, travel_changed_at`;

/** Null for a person without a row. */
export function findPerson(db: Queryable, userId: string): Promise<PersonRow | null> {
  return db.maybeOne(sql.type(person)`SELECT ${columns} FROM people WHERE user_id = ${userId}`);
}

/**
 * Locks the rows of these people until the transaction ends, and inserts missing rows. Their
 * visibility cannot change meanwhile. Call it before the locks on vaults (docs/adr/0014).
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

declare const changeable: unique symbol;

/** A person whose travel mode the caller may change. Only `changeableJourney` of `access/` makes one. */
export type Traveller = PersonRow & { readonly [changeable]: true };

/** Sets travel mode. Returns the time of the change, which only grows. */
export function changeTravelMode(
  tx: Queryable,
  { user_id: userId }: Traveller,
  { enabled, now }: { enabled: boolean; now: Date },
): Promise<string> {
  return tx.oneFirst(sql.type(z.object({ travel_changed_at: z.string() }))`
    UPDATE people SET travelling = ${enabled},
      travel_changed_at = greatest(${now.toISOString()}::timestamptz, travel_changed_at + interval '1 microsecond')
    WHERE user_id = ${userId} RETURNING travel_changed_at
  `);
}

/** The vaults of a member that travel mode hides. */
export function listUnsafeVaults(db: Queryable, userId: string): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT v.id FROM vault_members m JOIN vaults v ON v.id = m.vault_id
    WHERE m.user_id = ${userId} AND NOT v.safe_for_travel
  `);
}
