import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Role } from "./memberships.ts";
import { roles } from "./memberships.ts";

const orgRow = z.object({
  id: z.string(),
  name: z.string(),
  plan: z.enum(["free", "team", "business", "enterprise"]),
  created_at: z.string(),
});
export type OrgRow = z.infer<typeof orgRow>;

const orgColumns = sql.fragment`id, name, plan, created_at`;

/** Inserts an organization. */
export function insertOrg(
  tx: Queryable,
  org: { id: string; name: string; plan: OrgRow["plan"]; now: Date },
): Promise<OrgRow> {
  return tx.one(sql.type(orgRow)`
    INSERT INTO orgs (id, name, plan, created_at)
    VALUES (${org.id}, ${org.name}, ${org.plan}, ${org.now.toISOString()})
    RETURNING ${orgColumns}
  `);
}

/** An organization that exists. */
export function getOrg(db: Queryable, orgId: string): Promise<OrgRow> {
  return db.one(sql.type(orgRow)`SELECT ${orgColumns} FROM orgs WHERE id = ${orgId}`);
}

/** Waits until nobody else changes who is in the organization; until the transaction ends nobody can. */
export async function lockMembers(tx: Queryable, orgId: string): Promise<void> {
  await tx.query(sql.type(z.object({ id: z.string() }))`SELECT id FROM orgs WHERE id = ${orgId} FOR NO KEY UPDATE`);
}

/** Makes a person an active member of an organization; false when the person is a member already. */
export async function insertMembership(
  tx: Queryable,
  { orgId, userId, role, now }: { orgId: string; userId: string; role: Role; now: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    INSERT INTO memberships (org_id, user_id, role, status, joined_at)
    VALUES (${orgId}, ${userId}, ${role}, 'active', ${now.toISOString()})
    ON CONFLICT (org_id, user_id) DO NOTHING
  `);
  return rowCount === 1;
}

/** Whether the person with this canonical e-mail is a member of the organization, suspended or not. */
export function isMemberEmail(db: Queryable, orgId: string, email: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = ${orgId} AND u.email = ${email}
  `);
}

const memberRow = z.object({
  user_id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(roles),
  status: z.enum(["active", "suspended"]),
  joined_at: z.string(),
});
/** A member as the organization's members see them. */
export type MemberRow = z.infer<typeof memberRow>;

/** The members of an organization, the oldest first. */
export function listMembers(db: Queryable, orgId: string): Promise<readonly MemberRow[]> {
  return db.any(sql.type(memberRow)`
    SELECT m.user_id, u.name, u.email, m.role, m.status, m.joined_at
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.org_id = ${orgId} ORDER BY m.joined_at, m.user_id
  `);
}

const userOrgRow = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  status: z.enum(["active", "suspended"]),
});
/** An organization as one of its members sees it in a list. */
export type UserOrgRow = z.infer<typeof userOrgRow>;

/** The organizations of a person, the oldest membership first. */
export function listUserOrgs(db: Queryable, userId: string): Promise<readonly UserOrgRow[]> {
  return db.any(sql.type(userOrgRow)`
    SELECT o.id, o.name, m.role, m.status
    FROM memberships m JOIN orgs o ON o.id = m.org_id
    WHERE m.user_id = ${userId} ORDER BY m.joined_at, m.org_id
  `);
}
