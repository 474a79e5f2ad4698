import type { AuditDraft } from "@coffer/events";
import { auditSchemaName } from "@coffer/events";
import type { Deps } from "../deps.ts";

/** An audit record of what delivery has done by itself. */
export function deliveryAudit(
  deps: Pick<Deps, "newId">,
  given: Pick<AuditDraft, "action" | "reason" | "count" | "changes"> & {
    orgId: string;
    endpointId: string;
    at: string;
    status?: number | null;
  },
): AuditDraft {
  const { orgId, endpointId, at, status = null, ...rest } = given;
  return {
    schema: auditSchemaName,
    id: deps.newId(),
    time: at,
    org_id: orgId,
    outcome: "failure",
    ...rest,
    actor: { type: "system", id: "siem-forwarder" },
    target: { type: "siem_webhook", id: endpointId },
    source: { ip: null, user_agent: null },
    request: { id: deps.newId(), method: null, route: null, status },
  };
}
