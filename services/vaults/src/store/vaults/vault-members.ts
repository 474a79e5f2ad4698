import { permissions, type Permission } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** A member of a vault, with the vault's key sealed for them. */
export interface VaultMember {
  vaultId: string;
  userId: string;
  permission: Permission;
  encryptedKey: string;
  keyVersion: number;
  now: Date;
}

export async function insertMember(tx: Queryable, member: VaultMember): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO vault_members (vault_id, user_id, permission, encrypted_key, key_version, added_at)
    VALUES (${member.vaultId}, ${member.userId}, ${member.permission}, ${member.encryptedKey}, ${member.keyVersion},
      ${member.now.toISOString()})
  `);
}

/** Adds a member, or changes the permission and key. Returns when the member was added. */
export function upsertMember(tx: Queryable, member: VaultMember): Promise<string> {
  return tx.oneFirst(sql.type(z.object({ added_at: z.string() }))`
    INSERT INTO vault_members (vault_id, user_id, permission, encrypted_key, key_version, added_at)
    VALUES (${member.vaultId}, ${member.userId}, ${member.permission}, ${member.encryptedKey}, ${member.keyVersion},
      ${member.now.toISOString()})
    ON CONFLICT (vault_id, user_id) DO UPDATE SET
      permission = excluded.permission, encrypted_key = excluded.encrypted_key, key_version = excluded.key_version
    RETURNING added_at
  `);
}

/** Null for a person who is not a member. */
export function findPermission(db: Queryable, vaultId: string, userId: string): Promise<Permission | null> {
  return db.maybeOneFirst(sql.type(z.object({ permission: z.enum(permissions) }))`
    SELECT permission FROM vault_members WHERE vault_id = ${vaultId} AND user_id = ${userId}
  `);
}

/** The number of a person's vaults, including those that travel mode hides. */
export function countVaultsOf(db: Queryable, userId: string): Promise<number> {
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) FROM vault_members WHERE user_id = ${userId}
  `);
}

/** The members of a vault, including suspended ones. */
export function listMemberIds(db: Queryable, vaultId: string): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ user_id: z.string() }))`
    SELECT user_id FROM vault_members WHERE vault_id = ${vaultId} ORDER BY user_id
  `);
}

const memberPermission = z.object({ user_id: z.string(), permission: z.enum(permissions) });

export function listPermissions(db: Queryable, vaultId: string): Promise<readonly z.infer<typeof memberPermission>[]> {
  return db.any(sql.type(memberPermission)`SELECT user_id, permission FROM vault_members WHERE vault_id = ${vaultId}`);
}

const memberRow = z.object({
  user_id: z.string(),
  name: z.string(),
  email: z.string(),
  permission: z.enum(permissions),
  added_at: z.string(),
  has_key: z.boolean(),
});
export type VaultMemberRow = z.infer<typeof memberRow>;

/** A position in the list of members, which is in the order in which they were added. */
export interface MemberKey {
  added_at: string;
  user_id: string;
}

/**
 * At most `limit` members of a vault after a position. Without an organization names are unknown.
 * The order ignores names: a rename between two pages would skip or repeat a member.
 */
export function listMembers(
  db: Queryable,
  vaultId: string,
  { after, limit }: { after: MemberKey | undefined; limit: number | undefined },
): Promise<readonly VaultMemberRow[]> {
  const none = sql.fragment``;
  const position = ({ added_at, user_id }: MemberKey) => sql.fragment`(${added_at}::timestamptz, ${user_id}::uuid)`;
  return db.any(sql.type(memberRow)`
    SELECT m.user_id, coalesce(o.name, '') AS name, coalesce(o.email, '') AS email, m.permission, m.added_at,
      m.encrypted_key IS NOT NULL AS has_key
    FROM vault_members m
    JOIN vaults v ON v.id = m.vault_id
    LEFT JOIN memberships o ON o.org_id = v.org_id AND o.user_id = m.user_id
    WHERE m.vault_id = ${vaultId} ${after === undefined ? none : sql.fragment`AND (m.added_at, m.user_id) > ${position(after)}`}
    ORDER BY m.added_at, m.user_id ${limit === undefined ? none : sql.fragment`LIMIT ${limit}`}
  `);
}

/** Whether another active member, in a role that reads ciphertext, manages the vault. */
export function hasOtherManager(db: Queryable, vaultId: string, userId: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM vault_members m
    JOIN vaults v ON v.id = m.vault_id
    LEFT JOIN memberships o ON o.org_id = v.org_id AND o.user_id = m.user_id
    WHERE m.vault_id = ${vaultId} AND m.user_id <> ${userId} AND m.permission = 'manage'
      AND (v.org_id IS NULL OR (o.status = 'active' AND o.role <> 'auditor'))
  `);
}

export async function deleteMember(tx: Queryable, vaultId: string, userId: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    DELETE FROM vault_members WHERE vault_id = ${vaultId} AND user_id = ${userId}
  `);
}
