import { permissions, type Permission } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/**
 * A condition on a membership `m`: the member can use a grant. Suspended members and auditors
 * cannot.
 */
export const canHold = sql.fragment`m.status = 'active' AND m.role <> 'auditor'`;

const userGrant = z.object({
  permission: z.enum(permissions).nullable(),
  key_version: z.number(),
});
export type UserGrant = z.infer<typeof userGrant>;

export interface GrantKey {
  orgId: string;
  userId: string;
  folderId: string;
}

/**
 * A person's grant on a folder of the organization: null when there is no such folder, `permission`
 * null when there is no grant.
 */
export function findUserGrant(db: Queryable, { orgId, userId, folderId }: GrantKey): Promise<UserGrant | null> {
  return db.maybeOne(sql.type(userGrant)`
    SELECT m.permission, f.key_version
    FROM folders f LEFT JOIN folder_members m ON m.folder_id = f.id AND m.user_id = ${userId}
    WHERE f.id = ${folderId} AND f.org_id = ${orgId}
  `);
}

const memberGrant = z.object({ permission: z.enum(permissions), added_at: z.string() });
export type MemberGrant = z.infer<typeof memberGrant>;

/** A person's grant on an existing folder; null when there is none. */
export function findMemberGrant(db: Queryable, folderId: string, userId: string): Promise<MemberGrant | null> {
  return db.maybeOne(sql.type(memberGrant)`
    SELECT permission, added_at FROM folder_members WHERE folder_id = ${folderId} AND user_id = ${userId}
  `);
}

/**
 * Adds or changes a person's grant on a folder, with the folder's key encrypted to the person's
 * public key.
 */
export function upsertMemberGrant(
  tx: Queryable,
  grant: { folderId: string; userId: string; permission: Permission; encryptedKey: string; now: Date },
): Promise<MemberGrant> {
  return tx.one(sql.type(memberGrant)`
    INSERT INTO folder_members (folder_id, user_id, permission, encrypted_key, encrypted_key_alg, added_at)
    VALUES (${grant.folderId}, ${grant.userId}, ${grant.permission}, ${grant.encryptedKey}, 'jwe',
      ${grant.now.toISOString()})
    ON CONFLICT (folder_id, user_id) DO UPDATE SET permission = excluded.permission,
      encrypted_key = excluded.encrypted_key, encrypted_key_alg = excluded.encrypted_key_alg
    RETURNING permission, added_at
  `);
}

export async function deleteMemberGrant(tx: Queryable, folderId: string, userId: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    DELETE FROM folder_members WHERE folder_id = ${folderId} AND user_id = ${userId}
  `);
}

/** Whether another member has a usable `manage` grant on a folder. */
export function hasOtherManager(db: Queryable, folderId: string, userId: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM folder_members g
    JOIN folders f ON f.id = g.folder_id
    JOIN memberships m ON m.org_id = f.org_id AND m.user_id = g.user_id
    WHERE g.folder_id = ${folderId} AND g.user_id <> ${userId} AND g.permission = 'manage' AND ${canHold}
  `);
}

const userId = z.object({ user_id: z.string() });

/** The people with a usable grant on a folder, by id: those after `after`, or all. */
export function listFolderPeople(
  db: Queryable,
  folderId: string,
  { after, limit }: { after: string | null; limit: number | null } = { after: null, limit: null },
): Promise<readonly string[]> {
  return db.anyFirst(sql.type(userId)`
    SELECT g.user_id FROM folder_members g
    JOIN folders f ON f.id = g.folder_id
    JOIN memberships m ON m.org_id = f.org_id AND m.user_id = g.user_id
    WHERE g.folder_id = ${folderId} AND ${canHold} AND (${after}::uuid IS NULL OR g.user_id > ${after}::uuid)
    ORDER BY g.user_id LIMIT ${limit}
  `);
}

/** The folders of an organization on which a person has a grant. */
export function listUserGrants(db: Queryable, orgId: string, userId: string): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ folder_id: z.string() }))`
    SELECT m.folder_id FROM folder_members m JOIN folders f ON f.id = m.folder_id
    WHERE f.org_id = ${orgId} AND m.user_id = ${userId}
  `);
}

/** Deletes a person's grants on the folders of an organization; returns the folders. */
export function deleteUserGrants(tx: Queryable, orgId: string, userId: string): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(z.object({ folder_id: z.string() }))`
    DELETE FROM folder_members m USING folders f
    WHERE f.id = m.folder_id AND f.org_id = ${orgId} AND m.user_id = ${userId}
    RETURNING m.folder_id
  `);
}
