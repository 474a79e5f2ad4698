import { ServiceError } from "@coffer/errors";
import type { AuditDraft, AuditRecorder } from "@coffer/events";
import { mayRecord } from "@coffer/events";
import type { Deps } from "../deps.ts";
import { appendAudit } from "./append.ts";

/**
 * coffer.rpc.siem-forwarder.append-<service>
 * Appends records that a service sent, all of them or none.
 * @returns how many were new
 * @throws ServiceError `invalid_request` for an action that the service may not record; otherwise
 *   as `appendAudit`
 */
export function appendSent(
  deps: Pick<Deps, "database">,
  service: AuditRecorder,
  batch: { records: readonly AuditDraft[] },
): Promise<{ stored: number }> {
  const refused = batch.records.find(({ action }) => !mayRecord(service, action));
  if (refused !== undefined) {
    const message = `${service} may not record the action ${refused.action}: see recordedActions of @coffer/events`;
    throw new ServiceError("invalid_request", message);
  }
  return appendAudit(deps, batch);
}
