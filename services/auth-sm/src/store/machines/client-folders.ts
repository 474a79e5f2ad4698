import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

const grantedFolder = z.object({
  id: z.string(),
  name: z.string(),
  permission: z.enum(["read", "write"]),
  key_version: z.number(),
  encrypted_key: z.string().nullable(),
  encrypted_key_alg: z.enum(["box-token", "jwe"]).nullable(),
  history_seq: z.number().nullable(),
});
/**
 * A folder on which a client has a grant. The encrypted folder key is null until a manager adds it.
 */
export type GrantedFolder = z.infer<typeof grantedFolder>;

/** The folders on which any of these clients has a grant. */
export function listGrantedFolderIds(db: Queryable, clientIds: readonly string[]): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ folder_id: z.string() }))`
    SELECT DISTINCT folder_id FROM client_folders WHERE client_id = ANY(${sql.array([...clientIds], "uuid")})
  `);
}

export function listClientFolders(db: Queryable, clientId: string): Promise<readonly GrantedFolder[]> {
  return db.any(sql.type(grantedFolder)`
    SELECT f.id, f.name, g.permission, f.key_version, g.encrypted_key, g.encrypted_key_alg, f.history_seq
    FROM client_folders g JOIN folders f ON f.id = g.folder_id
    WHERE g.client_id = ${clientId} ORDER BY f.name_folded
  `);
}
