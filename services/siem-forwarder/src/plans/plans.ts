import type { PlanName } from "@coffer/contract";
import type { Database } from "@coffer/postgres";
import type { Config } from "../config.ts";
import { findPlans } from "../store/org-plans.ts";

/** Knows which plan an organization has. */
export interface Plans {
  /** The plans of these organizations, by id. */
  of(orgIds: readonly string[]): Promise<ReadonlyMap<string, PlanName>>;
}

/** Whether a plan has SIEM endpoints. */
export function hasSiem(plan: PlanName | undefined): boolean {
  return plan === "business" || plan === "enterprise";
}

/**
 * With billing the plan is the one that auth-sm reported; an organization without a report is free.
 * Without billing every organization has the plan `enterprise`, and stored plans are ignored.
 */
export function createPlans(database: Database, billing: Config["COFFER_BILLING"]): Plans {
  return {
    async of(orgIds) {
      const stored = billing === "off" || orgIds.length === 0 ? new Map() : await findPlans(database.pool, orgIds);
      const absent = billing === "off" ? "enterprise" : "free";
      return new Map(orgIds.map((id) => [id, stored.get(id) ?? absent]));
    },
  };
}
