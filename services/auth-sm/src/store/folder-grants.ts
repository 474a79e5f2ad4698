import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { permissions } from "../access/permission.ts";

const userGrant = z.object({ permission: z.enum(permissions).nullable(), key_version: z.number() });
type UserGrant = z.infer<typeof userGrant>;

/** Whose grant on which folder of which organization. */
export interface AskedGrant {
  orgId: string;
  userId: string;
  folderId: string;
}

/**
 * A person's grant on a folder of the organization: null when there is no such folder there, `permission` null when
 * there is one that was not granted.
 */
export function findUserGrant(db: Queryable, { orgId, userId, folderId }: AskedGrant): Promise<UserGrant | null> {
  return db.maybeOne(sql.type(userGrant)`
    SELECT m.permission, f.key_version
    FROM folders f LEFT JOIN folder_members m ON m.folder_id = f.id AND m.user_id = ${userId}
    WHERE f.id = ${folderId} AND f.org_id = ${orgId}
  `);
}

/** Takes a person's grants on the folders of an organization away; returns the folders. */
export function deleteUserGrants(tx: Queryable, orgId: string, userId: string): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(z.object({ folder_id: z.string() }))`
    DELETE FROM folder_members m USING folders f
    WHERE f.id = m.folder_id AND f.org_id = ${orgId} AND m.user_id = ${userId}
    RETURNING m.folder_id
  `);
}
