import { auditAppend } from "@coffer/events";
import { appendAudit } from "./audit/append.ts";
import type { Deps } from "./deps.ts";

/** The service's surface on the bus: which operation answers which subject. */
export function answerRequests(deps: Deps): void {
  deps.bus.reply(auditAppend, (batch) => appendAudit(deps, batch));
}
