/** The plans of an organization, the lowest first. */
export const planNames = ["free", "team", "business", "enterprise"] as const;

export type PlanName = (typeof planNames)[number];
