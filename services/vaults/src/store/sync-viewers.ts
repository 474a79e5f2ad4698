import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** Who sees a vault now, in the order of their ids: at most `limit` after `after`. */
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
