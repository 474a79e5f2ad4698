import type { PlanReport } from "@coffer/events";
import type { Deps } from "../deps.ts";
import { storePlan } from "../store/org-plans.ts";

/**
 * coffer.rpc.siem-forwarder.plan-changed
 * Stores the plan that auth-sm reports. An older version changes nothing.
 */
export async function applyPlan(
  { database }: Pick<Deps, "database">,
  report: PlanReport,
): Promise<{ applied: boolean }> {
  return { applied: await storePlan(database.pool, report) };
}
