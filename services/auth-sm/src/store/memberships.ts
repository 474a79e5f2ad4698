import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

export const roles = ["owner", "admin", "auditor", "member"] as const;
export type Role = (typeof roles)[number];

const membership = z.object({
  org_id: z.string(),
  role: z.enum(roles),
  status: z.enum(["active", "suspended"]),
  plan: z.enum(["free", "team", "business", "enterprise"]),
});
export type Membership = z.infer<typeof membership>;

/** The person's membership of one organization, or without `orgId` the oldest; null when there is none. */
export function findMembership(db: Queryable, userId: string, orgId: string | undefined): Promise<Membership | null> {
  return db.maybeOne(sql.type(membership)`
    SELECT m.org_id, m.role, m.status, o.plan
    FROM memberships m JOIN orgs o ON o.id = m.org_id
    WHERE m.user_id = ${userId} AND (${orgId ?? null}::uuid IS NULL OR m.org_id = ${orgId ?? null}::uuid)
    ORDER BY m.joined_at, m.org_id LIMIT 1
  `);
}

/** Whether the person belongs to any organization. */
export function hasMembership(db: Queryable, userId: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`SELECT FROM memberships WHERE user_id = ${userId}`);
}
