import { type PlanName, planNames } from "@coffer/contract";
import type { PlanReport } from "@coffer/events";
import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/**
 * Stores a reported plan unless the stored one is of this version or a newer one. Returns whether
 * it was stored.
 */
export async function storePlan(db: Queryable, { org_id, plan, version }: PlanReport): Promise<boolean> {
  const stored = await db.maybeOne(sql.type(z.object({ org_id: z.string() }))`
    INSERT INTO org_plans (org_id, plan, version) VALUES (${org_id}, ${plan}, ${version})
    ON CONFLICT (org_id) DO UPDATE SET plan = excluded.plan, version = excluded.version
    WHERE org_plans.version < excluded.version
    RETURNING org_id
  `);
  return stored !== null;
}

const planRow = z.object({ org_id: z.string(), plan: z.enum(planNames) });

/** The reported plans of organizations, by id; those without a report are missing. */
export async function findPlans(db: Queryable, orgIds: readonly string[]): Promise<Map<string, PlanName>> {
  const rows = await db.any(sql.type(planRow)`
    SELECT org_id, plan FROM org_plans WHERE org_id = ANY (${sql.array(orgIds, "uuid")})
  `);
  return new Map(rows.map(({ org_id, plan }) => [org_id, plan]));
}
