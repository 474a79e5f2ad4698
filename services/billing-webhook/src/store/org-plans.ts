import { type PlanName, planNames } from "@coffer/contract";
import type { PlanReport } from "@coffer/events";
import type { Queryable, Transaction } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** The plan that was reported last for an organization; null when none was. */
export async function findPlan(tx: Transaction, orgId: string): Promise<PlanName | null> {
  return tx.maybeOneFirst(sql.type(z.object({ plan: z.enum(planNames) }))`
    SELECT plan FROM org_plans WHERE org_id = ${orgId}
  `);
}

/**
 * Stores the plan of an organization under the next version: the clock's milliseconds, or one more
 * than the version before where the clock is behind it. So versions grow also when this schema is
 * made again.
 */
export async function replacePlan(
  tx: Transaction,
  { orgId, plan, graceEndsAt, digest }: OrgPlan,
  now: Date,
): Promise<PlanReport> {
  return tx.one(sql.type(z.object({ org_id: z.string(), plan: z.enum(planNames), version: z.number() }))`
    INSERT INTO org_plans (org_id, plan, version, grace_ends_at, prices_digest)
    VALUES (${orgId}, ${plan}, ${now.getTime()}, ${graceEndsAt?.toISOString() ?? null}::timestamptz, ${digest})
    ON CONFLICT (org_id) DO UPDATE SET
      plan = excluded.plan,
      version = greatest(org_plans.version + 1, excluded.version),
      grace_ends_at = excluded.grace_ends_at,
      prices_digest = excluded.prices_digest
    RETURNING org_id, plan, version
  `);
}

/** Stores an unchanged plan, without a new version. */
export async function touchPlan(tx: Transaction, { orgId, graceEndsAt, digest }: OrgPlan): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE org_plans
    SET grace_ends_at = ${graceEndsAt?.toISOString() ?? null}::timestamptz, prices_digest = ${digest}
    WHERE org_id = ${orgId}
  `);
}

/** A computed plan. */
export interface OrgPlan {
  orgId: string;
  plan: PlanName;
  /** When it must be computed again without an event. */
  graceEndsAt: Date | undefined;
  /** By which price table. */
  digest: string;
}

/**
 * Organizations whose plan must be computed again: a grace has ended, or the price table is another
 * one than `digest`.
 */
export async function listDuePlans(
  db: Queryable,
  { now, digest, limit }: { now: Date; digest: string | null; limit: number },
): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ org_id: z.string() }))`
    SELECT org_id FROM org_plans
    WHERE grace_ends_at <= ${now.toISOString()}::timestamptz OR prices_digest <> ${digest}
    ORDER BY org_id LIMIT ${limit}
  `);
}

/** Notes that the end of a grace is recorded. Returns false when it was noted before. */
export async function insertEndedGrace(
  tx: Transaction,
  { subscriptionId, pastDueSince }: { subscriptionId: string; pastDueSince: number },
): Promise<boolean> {
  const inserted = await tx.maybeOne(sql.type(z.object({ subscription_id: z.string() }))`
    INSERT INTO ended_graces (subscription_id, past_due_since) VALUES (${subscriptionId}, ${pastDueSince})
    ON CONFLICT DO NOTHING
    RETURNING subscription_id
  `);
  return inserted !== null;
}
