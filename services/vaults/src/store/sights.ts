import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** Which sights are to be settled: those on these vaults, of everybody or of these people. */
export interface SightScope {
  vaultIds: readonly string[];
  userIds?: readonly string[];
}

const change = z.object({ user_id: z.string(), vault_id: z.string(), began: z.boolean(), at: z.string() });
/** A vault came into somebody's sight, or went out of it; `at` is later than the time of the change before it. */
export type SightChange = z.infer<typeof change>;

/**
 * Begins the sights that are due and not there, ends those that are there and not due, and counts up `access_version`
 * of the vaults concerned. Who sees a vault: its members that are active in its organization (or it has none) in a role
 * that reads ciphertext, unless they travel and it is not safe.
 */
export async function settle(
  tx: Queryable,
  { vaultIds, userIds }: SightScope,
  now: Date,
): Promise<readonly SightChange[]> {
  const at = now.toISOString();
  const vaults = sql.array([...vaultIds], "uuid");
  const people =
    userIds === undefined ? sql.fragment`` : sql.fragment`AND user_id = ANY(${sql.array([...userIds], "uuid")})`;
  const changes = await tx.any(sql.type(change)`
    WITH due AS (
      SELECT user_id, v.id AS vault_id, v.org_id
      FROM vault_members m
      JOIN vaults v ON v.id = m.vault_id
      LEFT JOIN people p USING (user_id)
      LEFT JOIN memberships o USING (org_id, user_id)
      WHERE v.id = ANY(${vaults}) ${people}
        AND (v.safe_for_travel OR p.travelling IS NOT TRUE)
        AND (v.org_id IS NULL OR (o.status = 'active' AND o.role <> 'auditor'))
    ),
    present AS (
      SELECT user_id, vault_id FROM sights WHERE vault_id = ANY(${vaults}) ${people} AND ended_x IS NULL
    ),
    ended AS (
      UPDATE sights SET
        ended_x = pg_current_xact_id(), ended_snapshot = pg_current_snapshot(),
        ended_at = greatest(${at}::timestamptz, began_at + interval '1 microsecond')
      WHERE ended_x IS NULL AND (user_id, vault_id) IN (
        SELECT user_id, vault_id FROM present EXCEPT SELECT user_id, vault_id FROM due
      )
      RETURNING user_id, vault_id, ended_at
    ),
    begun AS (
      INSERT INTO sights (user_id, vault_id, org_id, began_snapshot, began_at)
      SELECT user_id, vault_id, org_id, pg_current_snapshot(), greatest(${at}::timestamptz, (
        SELECT max(ended_at) + interval '1 microsecond' FROM sights last
        WHERE last.user_id = due.user_id AND last.vault_id = due.vault_id AND last.ended_x IS NOT NULL
      ))
      FROM due
      WHERE NOT EXISTS (SELECT FROM present WHERE present.user_id = due.user_id AND present.vault_id = due.vault_id)
      RETURNING user_id, vault_id, began_at
    )
    SELECT user_id, vault_id, false AS began, ended_at AS at FROM ended
    UNION ALL SELECT user_id, vault_id, true, began_at FROM begun
    ORDER BY vault_id, user_id
  `);
  const changed = [...new Set(changes.map(({ vault_id }) => vault_id))];
  if (changed.length > 0) {
    await tx.query(sql.typeAlias("void")`
      UPDATE vaults SET access_version = access_version + 1 WHERE id = ANY(${sql.array(changed, "uuid")})
    `);
  }
  return changes;
}
