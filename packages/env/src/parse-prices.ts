import { jsonObject } from "./parse.ts";
import { ValueProblem } from "./variable.ts";

const plans = ["free", "team", "business", "enterprise"] as const;

export type PlanName = (typeof plans)[number];

/** JSON: price id or lookup key → plan. The map has no prototype, so that any id can be looked up in it. */
export function stripePrices(text: string): Readonly<Record<string, PlanName>> {
  const prices = Object.create(null) as Record<string, PlanName>; // Object.create is typed `any`
  for (const [price, value] of Object.entries(jsonObject(text))) {
    const plan = plans.find((candidate) => candidate === value);
    if (plan === undefined) throw new ValueProblem(`must give each price one of the plans ${plans.join(", ")}`);
    prices[price] = plan;
  }
  return prices;
}
