import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { permissions } from "../access/permission.ts";

const clientGrant = z.object({ permission: z.enum(["read", "write"]), key_version: z.number() });

/** A machine's grant on a folder, or null. Locks the folder against rotation and deletion until the transaction ends. */
export function findClientGrant(
  tx: Queryable,
  clientId: string,
  folderId: string,
): Promise<z.infer<typeof clientGrant> | null> {
  return tx.maybeOne(sql.type(clientGrant)`
    SELECT g.permission, f.key_version
    FROM client_folders g JOIN folders f ON f.id = g.folder_id
    WHERE g.client_id = ${clientId} AND g.folder_id = ${folderId}
    FOR KEY SHARE OF f
  `);
}

const userGrant = z.object({ permission: z.enum(permissions).nullable(), key_version: z.number() });

/**
 * A person's grant on a folder of the organization: null when there is no such folder there, `permission` null when
 * there is one that was not granted. Locks the folder against rotation and deletion until the transaction ends.
 */
export function findUserGrant(
  tx: Queryable,
  { orgId, userId, folderId }: { orgId: string; userId: string; folderId: string },
): Promise<z.infer<typeof userGrant> | null> {
  return tx.maybeOne(sql.type(userGrant)`
    SELECT m.permission, f.key_version
    FROM folders f LEFT JOIN folder_members m ON m.folder_id = f.id AND m.user_id = ${userId}
    WHERE f.id = ${folderId} AND f.org_id = ${orgId}
    FOR KEY SHARE OF f
  `);
}
