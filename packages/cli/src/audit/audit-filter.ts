import { auditActions } from "@coffer/contract";
import { closest } from "@coffer/env";
import { type AuditFilter, type AuditPage, CofferError, type PersonClient } from "@coffer/sdk";
import { usage } from "../failure.ts";
import { momentBefore } from "../input/moment.ts";
import { visible } from "../output/output.ts";

/** The options that select audit records. */
export interface FilterOptions {
  from?: string;
  to?: string;
  action?: string;
  actor?: string;
  outcome?: string;
}

/** The query for the service. Throws Failure (usage) for a malformed time or actor. */
export function filterOf({ from, to, action, actor, outcome }: FilterOptions): AuditFilter {
  if (actor?.includes("@") === true)
    throw usage("--actor is an id: `coffer member ls` shows those of people, `coffer client ls` those of machines");
  const now = Date.now();
  const [since, until] = [from, to].map((text) => (text === undefined ? undefined : momentBefore(now, text)));
  return { from: since, to: until, action, actor_id: actor, outcome };
}

/**
 * The pages of the audit. Throws Failure (usage) with the closest actions for an unknown action.
 */
export async function* pagesOf(
  { audit }: Pick<PersonClient, "audit">,
  filter: AuditFilter,
): AsyncGenerator<AuditPage, void> {
  try {
    yield* audit(filter);
  } catch (error) {
    const isUnknown = error instanceof CofferError && (error.details ?? []).some(({ field }) => field === "action");
    if (!isUnknown) throw error;
    const names = closest(filter.action ?? "", auditActions, 3).join(", ");
    throw usage(`there is no action ${visible(filter.action ?? "")}: the closest are ${names}`);
  }
}
