import { type PlanReport, siemPlanChanged } from "@coffer/events";
import { enqueue } from "@coffer/outbox";
import type { Deps } from "../deps.ts";
import { storePlan } from "../store/organizations/org-plans.ts";

/**
 * coffer.rpc.auth-sm.plan-changed
 * Stores the plan that billing-webhook reports and publishes it to siem-forwarder. An older version
 * changes nothing.
 */
export function applyPlan(deps: Pick<Deps, "database" | "newId">, report: PlanReport): Promise<{ applied: boolean }> {
  return deps.database.transaction(async (tx) => {
    const applied = await storePlan(tx, report);
    if (applied) await enqueue(tx, siemPlanChanged, report, { id: deps.newId() });
    return { applied };
  });
}
