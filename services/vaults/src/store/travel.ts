import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** Lets a person travel, or not. Returns since when, which only grows. */
export function changeTravelMode(
  tx: Queryable,
  { userId, enabled, now }: { userId: string; enabled: boolean; now: Date },
): Promise<string> {
  return tx.oneFirst(sql.type(z.object({ travel_changed_at: z.string() }))`
    UPDATE people SET travelling = ${enabled},
      travel_changed_at = greatest(${now.toISOString()}::timestamptz, travel_changed_at + interval '1 microsecond')
    WHERE user_id = ${userId} RETURNING travel_changed_at
  `);
}

/** The vaults of which a person is a member and that travel mode hides. */
export function listUnsafeVaults(db: Queryable, userId: string): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT v.id FROM vault_members m JOIN vaults v ON v.id = m.vault_id
    WHERE m.user_id = ${userId} AND NOT v.safe_for_travel
  `);
}
