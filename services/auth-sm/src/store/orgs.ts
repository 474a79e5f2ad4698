import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { roles } from "./memberships.ts";

const orgRow = z.object({
  id: z.string(),
  name: z.string(),
  plan: z.enum(["free", "team", "business", "enterprise"]),
  created_at: z.string(),
  history_seq: z.number().nullable(),
});
export type OrgRow = z.infer<typeof orgRow>;

const orgColumns = sql.fragment`id, name, plan, created_at, history_seq`;

/** Inserts an organization. Throws on a taken id (`orgs_pkey`). */
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
