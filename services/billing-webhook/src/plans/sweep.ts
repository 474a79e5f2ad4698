import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { listDuePlans } from "../store/org-plans.ts";
import { lockBilling } from "../store/stripe-events.ts";
import { recomputePlan } from "./recompute.ts";

const limit = 100;

/**
 * Recomputes plans without an event: after the end of a grace period, and once after a start with
 * another `COFFER_STRIPE_PRICES`. Only once, so that two replicas with different tables do not
 * alternate during an upgrade.
 */
export function planSweep(
  { database, newId, now, prices }: Pick<Deps, "database" | "newId" | "now" | "prices">,
  everyMilliseconds = 60_000,
): Sweep {
  let isRepriced = false;
  return {
    everyMilliseconds,
    failure: "plans whose grace has ended cannot be computed now; a later sweep will",
    async batch() {
      const due = await listDuePlans(database.pool, {
        now: now(),
        digest: isRepriced ? null : prices.digest,
        limit,
      });
      for (const orgId of due) {
        await database.transaction(async (tx) => {
          await lockBilling(tx);
          await recomputePlan(tx, { newId, now, prices }, orgId);
        });
      }
      isRepriced ||= due.length < limit;
      return due.length === limit;
    },
  };
}
