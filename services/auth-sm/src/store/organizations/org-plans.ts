import type { PlanReport } from "@coffer/events";
import { sql, type Transaction } from "@coffer/postgres";
import { z } from "zod";
import type { Config } from "../../config.ts";

/** The source of plans (`COFFER_BILLING`). */
export type Billing = Config["COFFER_BILLING"];

/**
 * SQL: the plan of the organization `o`. While billing is off it is `enterprise`, whatever is
 * stored.
 */
export function planColumn(billing: Billing) {
  if (billing === "off") return sql.fragment`'enterprise' AS plan`;
  return sql.fragment`coalesce((SELECT p.plan FROM org_plans p WHERE p.org_id = o.id), 'free') AS plan`;
}

/**
 * Stores a reported plan unless the stored version is the same or newer. Returns whether it was
 * stored.
 */
export async function storePlan(tx: Transaction, { org_id, plan, version }: PlanReport): Promise<boolean> {
  const stored = await tx.maybeOne(sql.type(z.object({ org_id: z.string() }))`
    INSERT INTO org_plans (org_id, plan, version) VALUES (${org_id}, ${plan}, ${version})
    ON CONFLICT (org_id) DO UPDATE SET plan = excluded.plan, version = excluded.version
    WHERE org_plans.version < excluded.version
    RETURNING org_id
  `);
  return stored !== null;
}
