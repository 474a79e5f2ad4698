import { createHash } from "node:crypto";
import { type PlanName, planNames } from "@coffer/contract";
import type { Price } from "../events/read-event.ts";

/** Which plan a price gives. */
export interface PriceTable {
  /**
   * By the lookup key in COFFER_STRIPE_PRICES, else by the price's id there, else by a lookup key
   * that is a plan's name.
   */
  planOf(price: Price): PlanName | undefined;
  /** Changes whenever the table does. */
  digest: string;
}

export function createPriceTable(configured: Readonly<Record<string, PlanName>>): PriceTable {
  const plans = new Map(Object.entries(configured));
  const text = JSON.stringify([...plans].sort(([one], [other]) => (one < other ? -1 : 1)));
  return {
    planOf: ({ id, lookup_key: key }) =>
      (key === null ? undefined : plans.get(key)) ?? plans.get(id) ?? planNames.find((name) => name === key),
    digest: createHash("sha256").update(text).digest("hex"),
  };
}

/** The highest of these plans. */
export function highestPlan(plans: readonly PlanName[]): PlanName | undefined {
  return planNames.findLast((name) => plans.includes(name));
}
