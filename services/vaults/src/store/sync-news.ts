import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

const key = z.object({ x: z.string(), vault_id: z.guid(), id: z.guid() });
/** Behind which row a kind of news goes on: every kind is in the order of x, vault and id. */
export type NewsKey = z.infer<typeof key>;
export const newsKey = key;

export interface NewsQuery {
  /** The watermark since which. */
  fromX: string;
  after: NewsKey | null;
  limit: number;
}

const record = key.extend({ at: z.string(), created: z.boolean() });
const sight = key.extend({ at: z.string() });

const nil = "00000000-0000-0000-0000-000000000000";

/** `x`, `vault` and `id` are the columns by which the rows are in order, which an index has from its first one on. */
function goesOn({ fromX, after }: NewsQuery, [x, vault, id]: readonly [Column, Column, Column]) {
  const { x: afterX, vault_id, id: afterId } = after ?? { x: "0", vault_id: nil, id: nil };
  return sql.fragment`${x} >= ${fromX}::xid8 AND ${x} >= ${afterX}::xid8
    AND (${x}, ${vault}, ${id}) > (${afterX}::xid8, ${vault_id}::uuid, ${afterId}::uuid)`;
}
type Column = ReturnType<typeof sql.fragment>;

const ofRecords = [sql.fragment`x`, sql.fragment`vault_id`, sql.fragment`id`] as const;

/** Records that are new or changed since. */
export function recordsSince(db: Queryable, query: NewsQuery) {
  return db.any(sql.type(record)`
    SELECT x, vault_id, id, updated_at AS at, created_x >= ${query.fromX}::xid8 AS created FROM records
    WHERE ${goesOn(query, ofRecords)} ORDER BY x, vault_id, id LIMIT ${query.limit}
  `);
}

/** Records deleted since from vaults that there still are: of the others nobody sees anything. */
export function deletionsSince(db: Queryable, query: NewsQuery) {
  return db.any(sql.type(sight)`
    SELECT x, vault_id, id, deleted_at AS at FROM tombstones
    WHERE ${goesOn(query, ofRecords)} AND EXISTS (SELECT FROM vaults WHERE vaults.id = vault_id)
    ORDER BY x, vault_id, id LIMIT ${query.limit}
  `);
}

/**
 * Who sees a vault that was changed since, but for whom just that has given it; `id` is that of the person. Each by name,
 * because whoever is given it between this answer and its telling is to be told that, and nothing before.
 */
export function vaultsSince(db: Queryable, query: NewsQuery) {
  const columns = [sql.fragment`v.x`, sql.fragment`v.id`, sql.fragment`user_id`] as const;
  return db.any(sql.type(sight)`
    SELECT v.x, v.id AS vault_id, user_id AS id, v.updated_at AS at
    FROM vaults v JOIN sights ON sights.vault_id = v.id AND ended_x IS NULL AND began_x <> v.x
    WHERE ${goesOn(query, columns)} ORDER BY v.x, v.id, user_id LIMIT ${query.limit}
  `);
}

/** Who sees a vault since; `id` is that of the person. */
export function sightsBegunSince(db: Queryable, query: NewsQuery) {
  const columns = [sql.fragment`began_x`, sql.fragment`vault_id`, sql.fragment`user_id`] as const;
  return db.any(sql.type(sight)`
    SELECT began_x AS x, vault_id, user_id AS id, began_at AS at FROM sights
    WHERE ${goesOn(query, columns)} AND ended_x IS NULL
    ORDER BY began_x, vault_id, user_id LIMIT ${query.limit}
  `);
}

/** Who ceased to see a vault since, and does not see it again; `id` is that of the person. */
export function sightsEndedSince(db: Queryable, query: NewsQuery) {
  const columns = [sql.fragment`ended_x`, sql.fragment`vault_id`, sql.fragment`user_id`] as const;
  return db.any(sql.type(sight)`
    SELECT ended_x AS x, vault_id, user_id AS id, ended_at AS at FROM sights AS ended
    WHERE ${goesOn(query, columns)} AND ended_x IS NOT NULL AND NOT EXISTS (
      SELECT FROM sights AS present
      WHERE present.user_id = ended.user_id AND present.vault_id = ended.vault_id AND present.ended_x IS NULL
    )
    ORDER BY ended_x, vault_id, user_id LIMIT ${query.limit}
  `);
}
