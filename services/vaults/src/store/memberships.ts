import { memberStatuses, roles } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

const membership = z.object({
  org_id: z.string(),
  role: z.enum(roles),
  status: z.enum(memberStatuses),
});
export type MembershipRow = z.infer<typeof membership>;

/** `missing`: suspended because auth-sm did not list it at a reconciliation. */
const knownMembership = membership.extend({ missing: z.boolean() });

/** The person's membership of one organization, or without `orgId` the oldest; null if unknown. */
export function findMembership(
  db: Queryable,
  userId: string,
  orgId: string | undefined,
): Promise<z.infer<typeof knownMembership> | null> {
  return db.maybeOne(sql.type(knownMembership)`
    SELECT org_id, role, status, status = 'suspended' AND version < 0 AS missing FROM memberships
    WHERE user_id = ${userId} AND status <> 'removed'
      AND (${orgId ?? null}::uuid IS NULL OR org_id = ${orgId ?? null}::uuid)
    ORDER BY joined_at, org_id LIMIT 1
  `);
}

/** Stores a membership without a version, from a response of auth-sm, unless the copy has one. */
export async function insertUnversioned(
  db: Queryable,
  { userId, org_id, role, status, now }: MembershipRow & { userId: string; now: Date },
): Promise<void> {
  await db.query(sql.typeAlias("void")`
    INSERT INTO memberships (org_id, user_id, role, status, name, email, joined_at, version)
    VALUES (${org_id}, ${userId}, ${role}, ${status}, '', '', ${now.toISOString()}, 0)
    ON CONFLICT DO NOTHING
  `);
}

/**
 * Whether a person may use vaults of an organization (active, in a role that reads ciphertext), or
 * of none.
 */
export async function canHold(db: Queryable, userId: string, orgId: string | null): Promise<boolean> {
  if (orgId === null) return true;
  const membership = await findMembership(db, userId, orgId);
  return membership !== null && membership.status === "active" && membership.role !== "auditor";
}
