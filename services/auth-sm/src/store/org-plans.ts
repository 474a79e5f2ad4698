import type { PlanReport } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Config } from "../config.ts";

/** Where plans come from (`COFFER_BILLING`). */
export type Billing = Config["COFFER_BILLING"];

/** SQL, an expression: the plan of the organization `o`. While billing is off that is `enterprise`, whatever is stored. */
export function planColumn(billing: Billing) {
  if (billing === "off") return sql.fragment`'enterprise' AS plan`;
  return sql.fragment`coalesce((SELECT p.plan FROM org_plans p WHERE p.org_id = o.id), 'free') AS plan`;
}

/** Stores a reported plan unless the stored one is of this version or a newer one. Returns whether it was stored. */
export async function storePlan(tx: Transaction, { org_id, plan, version }: PlanReport): Promise<boolean> {
  const stored = await tx.maybeOne(sql.type(z.object({ org_id: z.string() }))`
    INSERT INTO org_plans (org_id, plan, version) VALUES (${org_id}, ${plan}, ${version})
    ON CONFLICT (org_id) DO UPDATE SET plan = excluded.plan, version = excluded.version
    WHERE org_plans.version < excluded.version
    RETURNING org_id
  `);
  return stored !== null;
}
