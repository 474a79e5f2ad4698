import { type AuditAction } from "@coffer/contract";
import { type AuditDraft, auditSchemaName } from "@coffer/events";
import type { RequestContext } from "@coffer/http";
import type { User } from "./user.ts";

/** The actor of an audit record. */
export type Actor = AuditDraft["actor"];

/** The part of an audit record that the request does not determine. */
export interface AuditEntry {
  org_id: string | null;
  action: AuditAction;
  actor: Actor;
  target: AuditDraft["target"];
  /** `success` when omitted. */
  outcome?: AuditDraft["outcome"];
  reason?: string;
  /** The HTTP status of the response. */
  status: number;
  changes?: NonNullable<AuditDraft["changes"]>;
  count?: number;
}

/** The audit record of one action of one request, before it is chained. */
export function auditOf(deps: { newId(): string }, request: RequestContext, entry: AuditEntry): AuditDraft {
  const { status, outcome = "success", ...rest } = entry;
  return {
    schema: auditSchemaName,
    id: deps.newId(),
    time: request.time,
    outcome,
    ...rest,
    source: { ip: request.ip, user_agent: request.userAgent },
    request: { id: request.id, method: request.method, route: request.route, status },
  };
}

/** A person as the actor of an audit record. */
export function userActor(caller: User): Actor {
  return { type: "user", id: caller.userId, session_id: caller.sessionId };
}
