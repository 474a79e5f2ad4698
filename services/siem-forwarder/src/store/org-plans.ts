import type { PlanReport } from "@coffer/events";
import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** Stores a reported plan unless the stored one is of this version or a newer one. Returns whether it was stored. */
export async function storePlan(db: Queryable, { org_id, plan, version }: PlanReport): Promise<boolean> {
  const stored = await db.maybeOne(sql.type(z.object({ org_id: z.string() }))`
    INSERT INTO org_plans (org_id, plan, version) VALUES (${org_id}, ${plan}, ${version})
    ON CONFLICT (org_id) DO UPDATE SET plan = excluded.plan, version = excluded.version
    WHERE org_plans.version < excluded.version
    RETURNING org_id
  `);
  return stored !== null;
}
