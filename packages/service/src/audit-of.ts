import type { AuditAction, AuditDraft } from "@coffer/events";
import { auditSchemaName } from "@coffer/events";
import type { RequestContext } from "@coffer/http";
import type { User } from "./user.ts";

/** Who did it, as an audit record names them. */
export type Actor = AuditDraft["actor"];

/** What a request did, without what the request itself already says. */
export interface AuditEntry {
  org_id: string | null;
  action: AuditAction;
  actor: Actor;
  target: AuditDraft["target"];
  /** `success` when omitted. */
  outcome?: AuditDraft["outcome"];
  reason?: string;
  /** The HTTP status of the answer. */
  status: number;
  changes?: NonNullable<AuditDraft["changes"]>;
  count?: number;
}

/** The audit record of one action of one request, without its place in the chain. */
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

/** How an audit record names a person. */
export function userActor(caller: User): Actor {
  return { type: "user", id: caller.userId, session_id: caller.sessionId };
}
