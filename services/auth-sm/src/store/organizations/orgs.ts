import { planNames, roles } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { type Billing, planColumn } from "./org-plans.ts";

const orgRow = z.object({
  id: z.string(),
  name: z.string(),
  plan: z.enum(planNames),
  created_at: z.string(),
  history_seq: z.number().nullable(),
});
export type OrgRow = z.infer<typeof orgRow>;

/** Throws on a taken id (`orgs_pkey`). */
export async function insertOrg(tx: Queryable, org: { id: string; name: string; now: Date }): Promise<void> {
  // Older versions of the service, which do not know org_plans, read the column `plan`.
  await tx.query(sql.typeAlias("void")`
    INSERT INTO orgs (id, name, plan, created_at)
    VALUES (${org.id}, ${org.name}, 'enterprise', ${org.now.toISOString()})
  `);
}

/** An existing organization, with the plan that `billing` gives it. */
export function getOrg(db: Queryable, orgId: string, billing: Billing): Promise<OrgRow> {
  return db.one(sql.type(orgRow)`
    SELECT o.id, o.name, ${planColumn(billing)}, o.created_at, o.history_seq FROM orgs o WHERE o.id = ${orgId}
  `);
}

const userOrgRow = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  status: z.enum(["active", "suspended"]),
});
export type UserOrgRow = z.infer<typeof userOrgRow>;

/** The organizations of a person, oldest membership first. */
export function listUserOrgs(db: Queryable, userId: string): Promise<readonly UserOrgRow[]> {
  return db.any(sql.type(userOrgRow)`
    SELECT o.id, o.name, m.role, m.status
    FROM memberships m JOIN orgs o ON o.id = m.org_id
    WHERE m.user_id = ${userId} ORDER BY m.joined_at, m.org_id
  `);
}
