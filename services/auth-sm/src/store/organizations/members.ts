import { roles, type Role } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

export const memberStatuses = ["active", "suspended"] as const;
export type MemberStatus = (typeof memberStatuses)[number];

const memberRow = z.object({
  user_id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(roles),
  status: z.enum(memberStatuses),
  joined_at: z.string(),
});
/** A member as the organization's members see it. */
export type MemberRow = z.infer<typeof memberRow>;

declare const outranked: unique symbol;

/**
 * A member, invitation or role that the caller may change or give. Only `requireRankOver` of
 * `access/` makes one, and the statements that change them take nothing else.
 */
export type Outranked<Ranked extends { role: Role }> = Ranked & { readonly [outranked]: true };

/** The members of an organization, oldest first. */
export function listMembers(db: Queryable, orgId: string): Promise<readonly MemberRow[]> {
  return db.any(sql.type(memberRow)`${membersOf(orgId)} ORDER BY m.joined_at, m.user_id`);
}

/** Null when the person is not a member. */
export function findMember(db: Queryable, orgId: string, userId: string): Promise<MemberRow | null> {
  return db.maybeOne(sql.type(memberRow)`${membersOf(orgId)} AND m.user_id = ${userId}`);
}

function membersOf(orgId: string) {
  return sql.fragment`
    SELECT m.user_id, u.name, u.email, m.role, m.status, m.joined_at
    FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = ${orgId}
  `;
}

const memberKey = z.object({ user_id: z.string(), email: z.string(), role: z.enum(roles), public_key: z.string() });
/** A member with the fields of the organization's history. */
export type MemberKey = z.infer<typeof memberKey>;

/**
 * The members of an organization, including suspended ones, with their public keys: all, or those
 * named.
 */
export function listMemberKeys(
  db: Queryable,
  orgId: string,
  userIds?: readonly string[],
): Promise<readonly MemberKey[]> {
  const named =
    userIds === undefined ? sql.fragment`` : sql.fragment`AND m.user_id = ANY(${sql.array([...userIds], "uuid")})`;
  return db.any(sql.type(memberKey)`
    SELECT m.user_id, u.email, m.role, u.public_key
    FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = ${orgId} ${named}
  `);
}

/** Locks the membership list of an organization until the transaction ends. */
export async function lockMembers(tx: Queryable, orgId: string): Promise<void> {
  await tx.query(sql.type(z.object({ id: z.string() }))`SELECT id FROM orgs WHERE id = ${orgId} FOR NO KEY UPDATE`);
}

/** Returns false when the person is a member already. */
export async function insertMembership(
  tx: Queryable,
  { orgId, userId, role, version, now }: { orgId: string; userId: string; role: Role; version: number; now: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    INSERT INTO memberships (org_id, user_id, role, status, joined_at, role_since, version)
    VALUES (${orgId}, ${userId}, ${role}, 'active', ${now.toISOString()}, ${now.toISOString()}, ${version})
    ON CONFLICT (org_id, user_id) DO NOTHING
  `);
  return rowCount === 1;
}

/**
 * Whether the person with this canonical e-mail is a member of the organization, suspended or not.
 */
export function isMemberEmail(db: Queryable, orgId: string, email: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = ${orgId} AND u.email = ${email}
  `);
}

/** Changes a member's role and status. `role_since` changes only with the role. */
export async function changeMembership(
  tx: Queryable,
  { orgId, version, now }: { orgId: string; version: number; now: Date },
  { user_id: userId }: Outranked<MemberRow>,
  { role, status }: Outranked<{ role: Role; status: MemberStatus }>,
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE memberships SET role = ${role}, status = ${status}, version = ${version},
      role_since = CASE WHEN role = ${role} THEN role_since ELSE ${now.toISOString()}::timestamptz END
    WHERE org_id = ${orgId} AND user_id = ${userId}
  `);
}

/** The later of two times: when the manager's current role began, and when the member joined. */
export function findStanding(
  db: Queryable,
  { orgId, managerId, memberId }: { orgId: string; managerId: string; memberId: string },
): Promise<string> {
  return db.oneFirst(sql.type(z.object({ since: z.string() }))`
    SELECT greatest(coalesce(manager.role_since, manager.joined_at), member.joined_at) AS since
    FROM memberships manager JOIN memberships member ON member.org_id = manager.org_id
    WHERE manager.org_id = ${orgId} AND manager.user_id = ${managerId} AND member.user_id = ${memberId}
  `);
}

export async function deleteMembership(
  tx: Queryable,
  orgId: string,
  { user_id: userId }: Outranked<MemberRow>,
): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM memberships WHERE org_id = ${orgId} AND user_id = ${userId}`);
}

const versionedRow = memberRow.extend({ org_id: z.string(), version: z.number() });
/** A membership as other services copy it. */
export type VersionedRow = z.infer<typeof versionedRow>;

/** Memberships of all organizations in the order of their ids, after `after`. */
export function listMemberships(
  db: Queryable,
  { after, limit }: { after: { orgId: string; userId: string } | null; limit: number },
): Promise<readonly VersionedRow[]> {
  const rest =
    after === null ? sql.fragment`true` : sql.fragment`(m.org_id, m.user_id) > (${after.orgId}, ${after.userId})`;
  return db.any(sql.type(versionedRow)`
    SELECT m.org_id, m.user_id, u.name, u.email, m.role, m.status, m.joined_at, m.version
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE ${rest} ORDER BY m.org_id, m.user_id LIMIT ${limit}
  `);
}

/** Those of the named memberships that exist. */
export function findMemberships(
  db: Queryable,
  named: readonly { org_id: string; user_id: string }[],
): Promise<readonly VersionedRow[]> {
  return db.any(sql.type(versionedRow)`
    SELECT m.org_id, m.user_id, u.name, u.email, m.role, m.status, m.joined_at, m.version
    FROM jsonb_to_recordset(${JSON.stringify(named)}::jsonb) AS named (org_id uuid, user_id uuid)
    JOIN memberships m ON m.org_id = named.org_id AND m.user_id = named.user_id
    JOIN users u ON u.id = m.user_id
  `);
}

/** Whether the organization has another active owner. */
export function hasOtherOwner(db: Queryable, orgId: string, userId: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM memberships
    WHERE org_id = ${orgId} AND user_id <> ${userId} AND role = 'owner' AND status = 'active'
  `);
}

/** Whether the person is active in another organization. */
export function actsElsewhere(db: Queryable, orgId: string, userId: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM memberships WHERE user_id = ${userId} AND org_id <> ${orgId} AND status = 'active'
  `);
}

/**
 * The public key (base64 of the SPKI DER) of a person who shares an organization with the caller,
 * or is in this one; null when there is none.
 */
export function findFellowKey(
  db: Queryable,
  { callerId, userId, orgId }: { callerId: string; userId: string; orgId: string | undefined },
): Promise<string | null> {
  return db.maybeOneFirst(sql.type(z.object({ public_key: z.string() }))`
    SELECT u.public_key FROM users u
    WHERE u.id = ${userId} AND EXISTS (
      SELECT FROM memberships mine JOIN memberships theirs ON theirs.org_id = mine.org_id
      WHERE mine.user_id = ${callerId} AND mine.status = 'active' AND theirs.user_id = u.id
        AND (${orgId ?? null}::uuid IS NULL OR mine.org_id = ${orgId ?? null}::uuid)
    )
  `);
}
