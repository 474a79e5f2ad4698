import { auditAppendOf, auditRecorders, siemPlanChanged } from "@coffer/events";
import { appendSent } from "./audit/append-sent.ts";
import { applyPlan } from "./plans/apply-plan.ts";
import type { Deps } from "./deps.ts";

/** The service's surface on the bus: which operation answers which subject. */
export function answerRequests(deps: Deps): void {
  for (const recorder of auditRecorders)
    deps.bus.reply(auditAppendOf(recorder), (batch) => appendSent(deps, recorder, batch));
  deps.bus.reply(siemPlanChanged, (report) => applyPlan(deps, report));
}
