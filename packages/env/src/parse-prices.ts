import type { PlanName } from "@coffer/events";
import { planNames } from "@coffer/events";
import { jsonObject } from "./parse.ts";
import { ValueProblem } from "./variable.ts";

/** JSON: price id or lookup key → plan. The map has no prototype, so that any id can be looked up in it. */
export function stripePrices(text: string): Readonly<Record<string, PlanName>> {
  const prices = Object.create(null) as Record<string, PlanName>; // Object.create is typed `any`
  for (const [price, value] of Object.entries(jsonObject(text))) {
    const plan = planNames.find((candidate) => candidate === value);
    if (plan === undefined) throw new ValueProblem(`must give each price one of the plans ${planNames.join(", ")}`);
    prices[price] = plan;
  }
  return prices;
}
