import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

const key = z.object({ x: z.string(), vault_id: z.guid(), id: z.guid() });
/** The last row that was read: every kind is in the order of x, vault and id. */
export type CatchUpKey = z.infer<typeof key>;
export const catchUpKey = key;

export interface CatchUpQuery {
  /** Only changes at or after this watermark. */
  fromX: string;
  after: CatchUpKey | null;
  limit: number;
}

const record = key.extend({ at: z.string(), created: z.boolean() });
const change = key.extend({ at: z.string() });

const nil = "00000000-0000-0000-0000-000000000000";

/** The condition for rows after the key; an index has the columns in this order. */
function afterKey({ fromX, after }: CatchUpQuery, [x, vault, id]: readonly [Column, Column, Column]) {
  const { x: afterX, vault_id, id: afterId } = after ?? { x: "0", vault_id: nil, id: nil };
  return sql.fragment`${x} >= ${fromX}::xid8 AND ${x} >= ${afterX}::xid8
    AND (${x}, ${vault}, ${id}) > (${afterX}::xid8, ${vault_id}::uuid, ${afterId}::uuid)`;
}
type Column = ReturnType<typeof sql.fragment>;

const ofRecords = [sql.fragment`x`, sql.fragment`vault_id`, sql.fragment`id`] as const;

export function recordsSince(db: Queryable, query: CatchUpQuery) {
  return db.any(sql.type(record)`
    SELECT x, vault_id, id, updated_at AS at, created_x >= ${query.fromX}::xid8 AS created FROM records
    WHERE ${afterKey(query, ofRecords)} ORDER BY x, vault_id, id LIMIT ${query.limit}
  `);
}

/** Records deleted from vaults that still exist. */
export function deletionsSince(db: Queryable, query: CatchUpQuery) {
  return db.any(sql.type(change)`
    SELECT x, vault_id, id, deleted_at AS at FROM tombstones
    WHERE ${afterKey(query, ofRecords)} AND EXISTS (SELECT FROM vaults WHERE vaults.id = vault_id)
    ORDER BY x, vault_id, id LIMIT ${query.limit}
  `);
}

/**
 * Viewers of changed vaults, without those who gained it by that change; `id` is the person. By
 * name: a person who gains the vault after this read must not receive the earlier change.
 */
export function vaultsSince(db: Queryable, query: CatchUpQuery) {
  const columns = [sql.fragment`v.x`, sql.fragment`v.id`, sql.fragment`user_id`] as const;
  return db.any(sql.type(change)`
    SELECT v.x, v.id AS vault_id, user_id AS id, v.updated_at AS at
    FROM vaults v JOIN sights ON sights.vault_id = v.id AND ended_x IS NULL AND began_x <> v.x
    WHERE ${afterKey(query, columns)} ORDER BY v.x, v.id, user_id LIMIT ${query.limit}
  `);
}

/** Visibility that began; `id` is the person. */
export function visibilityBegunSince(db: Queryable, query: CatchUpQuery) {
  const columns = [sql.fragment`began_x`, sql.fragment`vault_id`, sql.fragment`user_id`] as const;
  return db.any(sql.type(change)`
    SELECT began_x AS x, vault_id, user_id AS id, began_at AS at FROM sights
    WHERE ${afterKey(query, columns)} AND ended_x IS NULL
    ORDER BY began_x, vault_id, user_id LIMIT ${query.limit}
  `);
}

/** Visibility that ended and did not begin again; `id` is the person. */
export function visibilityEndedSince(db: Queryable, query: CatchUpQuery) {
  const columns = [sql.fragment`ended_x`, sql.fragment`vault_id`, sql.fragment`user_id`] as const;
  return db.any(sql.type(change)`
    SELECT ended_x AS x, vault_id, user_id AS id, ended_at AS at FROM sights AS ended
    WHERE ${afterKey(query, columns)} AND ended_x IS NOT NULL AND NOT EXISTS (
      SELECT FROM sights AS present
      WHERE present.user_id = ended.user_id AND present.vault_id = ended.vault_id AND present.ended_x IS NULL
    )
    ORDER BY ended_x, vault_id, user_id LIMIT ${query.limit}
  `);
}
