import { type AuditDraft, auditSchemaName } from "@coffer/events";
import type { Deps } from "../deps.ts";
import { momentOf } from "../moment.ts";

/** The device, as sync names it. */
export interface Device {
  user_id: string;
  session_id: string;
  request_id: string;
  ip: string;
  user_agent: string | null;
}

/** The upgrade of the connection: messages over it have no method or status. */
const upgrade = { method: "GET", route: "/api/sync/ws", status: 101 };

/**
 * Audits how many records a device receives, in the chain of each organization that owns them.
 * Deletions do not count. Resolves when the audit records are durable.
 */
export async function recordHandedOut(
  deps: Pick<Deps, "audit" | "newId" | "now">,
  device: Device,
  handedOut: readonly { org_id: string | null; count: number }[],
): Promise<void> {
  await Promise.all(handedOut.map(({ org_id, count }) => deps.audit(draftOf(deps, device, org_id, count))));
}

function draftOf(
  { newId, now }: Pick<Deps, "newId" | "now">,
  device: Device,
  orgId: string | null,
  count: number,
): AuditDraft {
  return {
    schema: auditSchemaName,
    id: newId(),
    time: momentOf(now()),
    org_id: orgId,
    outcome: "success",
    reason: "sync",
    action: "record.listed",
    actor: { type: "user", id: device.user_id, session_id: device.session_id },
    target: { type: "org", id: orgId },
    source: { ip: device.ip, user_agent: device.user_agent },
    request: { id: device.request_id, ...upgrade },
    count,
  };
}
