import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** Whose visibility to recompute: of these vaults, for everyone or for these people. */
export interface VisibilityScope {
  vaultIds: readonly string[];
  userIds?: readonly string[];
}

const change = z.object({ user_id: z.string(), vault_id: z.string(), began: z.boolean(), at: z.string() });
/** A vault became visible to a person (`began`), or invisible; `at` only grows for each pair. */
export type VisibilityChange = z.infer<typeof change>;

/**
 * Updates `sights`, one row for each period in which a person sees a vault, and increments
 * `access_version` of the changed vaults. A vault is visible to its members who are active in its
 * organization, if it has one, in a role that reads ciphertext, and do not travel unless it is
 * safe.
 */
export async function recompute(
  tx: Queryable,
  { vaultIds, userIds }: VisibilityScope,
  now: Date,
): Promise<readonly VisibilityChange[]> {
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

/** The people who see a vault, in the order of their ids: at most `limit` after `after`. */
export function listViewers(
  db: Queryable,
  { vaultId, after, limit }: { vaultId: string; after: string | null; limit: number },
): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ user_id: z.string() }))`
    SELECT user_id FROM sights
    WHERE vault_id = ${vaultId} AND ended_x IS NULL AND (${after}::uuid IS NULL OR user_id > ${after}::uuid)
    ORDER BY user_id LIMIT ${limit}
  `);
}
