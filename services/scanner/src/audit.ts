import { ServiceError } from "@coffer/errors";
import { auditAppendOf, type AuditDraft } from "@coffer/events";
import type { Actor } from "@coffer/http";
import { userActor } from "@coffer/service/stateless";
import type { Caller } from "./callers/caller.ts";
import type { Deps } from "./deps.ts";

const append = auditAppendOf("scanner");

/**
 * Makes an audit record durable.
 * @throws ServiceError `unavailable` while siem-forwarder does not answer
 */
export async function recordAudit({ bus }: Pick<Deps, "bus">, record: AuditDraft): Promise<void> {
  try {
    await bus.request(append, { records: [record] });
  } catch (error) {
    if (error instanceof ServiceError && error.code === "unavailable") throw error;
    // A refused record is a bug of the service, not of the caller.
    throw new Error("the audit record was refused", { cause: error });
  }
}

/** How an audit record names the caller. */
export function actorOf(caller: Caller): Actor {
  if (caller.kind === "user") return userActor(caller);
  const { clientId, applicationId } = caller;
  return { type: "client", id: clientId, ...(applicationId === null ? {} : { application_id: applicationId }) };
}
