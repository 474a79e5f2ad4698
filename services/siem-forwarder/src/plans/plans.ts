/** The plans of organizations. */
export const planNames = ["free", "team", "business", "enterprise"] as const;
export type PlanName = (typeof planNames)[number];

/** Knows which plan an organization has. */
export interface Plans {
  /** The plans of these organizations, by id. */
  of(orgIds: readonly string[]): Promise<ReadonlyMap<string, PlanName>>;
}

/** Whether a plan has SIEM endpoints. */
export function hasSiem(plan: PlanName | undefined): boolean {
  return plan === "business" || plan === "enterprise";
}

/** Billing is off: every organization has the plan `enterprise`. */
export const plansWithoutBilling: Plans = {
  of: (orgIds) => Promise.resolve(new Map(orgIds.map((id) => [id, "enterprise"]))),
};
