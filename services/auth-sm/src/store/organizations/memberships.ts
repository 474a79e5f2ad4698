import { planNames } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { type Billing, planColumn } from "./org-plans.ts";
import { notEnded } from "../accounts/sessions.ts";

export const roles = ["owner", "admin", "auditor", "member"] as const;
export type Role = (typeof roles)[number];

const membership = z.object({
  org_id: z.string(),
  role: z.enum(roles),
  status: z.enum(["active", "suspended"]),
  plan: z.enum(planNames),
});
export type Membership = z.infer<typeof membership>;

const membershipInSession = z.object({
  ...membership.pick({ org_id: true, role: true, status: true }).shape,
  session_lasts: z.boolean(),
});
type MembershipInSession = z.infer<typeof membershipInSession>;

/**
 * The membership, and whether the session of the request is still active: one statement authorizes
 * the request.
 */
export function findMembershipInSession(
  db: Queryable,
  { userId, sessionId, orgId }: { userId: string; sessionId: string; orgId: string | undefined },
): Promise<MembershipInSession | null> {
  return db.maybeOne(sql.type(membershipInSession)`
    SELECT m.org_id, m.role, m.status, ${notEnded(sessionId)} AS session_lasts
    FROM memberships m
    WHERE m.user_id = ${userId} AND (${orgId ?? null}::uuid IS NULL OR m.org_id = ${orgId ?? null}::uuid)
    ORDER BY m.joined_at, m.org_id LIMIT 1
  `);
}

/**
 * The person's membership of one organization, or the oldest one without `orgId`, with the plan
 * that `billing` gives the organization; null when there is none.
 */
export function findMembership(
  db: Queryable,
  { userId, orgId }: { userId: string; orgId: string | undefined },
  billing: Billing,
): Promise<Membership | null> {
  return db.maybeOne(sql.type(membership)`
    SELECT m.org_id, m.role, m.status, ${planColumn(billing)}
    FROM memberships m JOIN orgs o ON o.id = m.org_id
    WHERE m.user_id = ${userId} AND (${orgId ?? null}::uuid IS NULL OR m.org_id = ${orgId ?? null}::uuid)
    ORDER BY m.joined_at, m.org_id LIMIT 1
  `);
}

export function hasMembership(db: Queryable, userId: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`SELECT FROM memberships WHERE user_id = ${userId}`);
}
