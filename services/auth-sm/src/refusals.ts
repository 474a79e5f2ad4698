import type { ServiceError } from "@coffer/errors";
import type { AuditAction, AuditDraft } from "@coffer/events";
import type { Anonymous, RefusedCall, Route } from "@coffer/http";
import { userActor } from "./access/membership.ts";
import type { Actor } from "./audit.ts";
import { auditOf } from "./audit.ts";
import type { Machine } from "./callers/machine.ts";
import type { User } from "./callers/user.ts";
import type { Deps } from "./deps.ts";
import { findClientOrg } from "./store/clients.ts";
import { findMembership } from "./store/memberships.ts";

/** Whoever calls this service. */
export type Caller = User | Machine | Anonymous;

/** What is known of a refused call besides the parameters of its path. */
export interface Sent {
  /** The organization in which the caller acts. */
  orgId: string | null;
  /** As the route's schemas made them; undefined when the call was refused before they were read. */
  query: unknown;
  body: unknown;
}

/** What a call of an endpoint attempts, for the record of its refusal. */
export interface Attempt {
  action: AuditAction;
  /** What it is about. */
  target: (params: Readonly<Record<string, string>>, sent: Sent) => AuditDraft["target"];
}

/** A route that says what it attempts. One whose refusals are no business of the audit (the reads of lists) does not. */
export type AttemptingRoute<SomeRoute> = SomeRoute & { readonly attempt: Attempt };

/** Says of a route what a call of it attempts. */
export function attempting<SomeRoute extends object>(
  action: AuditAction,
  target: Attempt["target"],
  route: SomeRoute,
): AttemptingRoute<SomeRoute> {
  return Object.assign(route, { attempt: { action, target } });
}

/**
 * Records a refused call before its answer goes out: a denial (403), or an attempt that failed (404, 409, 412; for a
 * machine whose client has ended also 401). What nobody in particular attempted leaves no record.
 */
export async function recordRefusal(
  deps: Deps,
  route: Route<Deps, Caller> & { attempt?: Attempt },
  { caller, params, query, body, request }: RefusedCall<Caller>,
  error: ServiceError,
): Promise<void> {
  const { attempt } = route;
  if (attempt === undefined || caller === undefined || caller.kind === "anonymous") return;
  const outcome = outcomeOf(error, caller);
  if (outcome === null) return;
  const who = await placeOf(deps, caller);
  if (who === null) return;
  const ended = error.status === 401;
  await deps.audit(
    auditOf(deps, request, {
      org_id: who.orgId,
      action: ended ? "client.auth.failed" : attempt.action,
      actor: who.actor,
      target: plain(attempt.target(params, { orgId: who.orgId, query, body })),
      outcome,
      reason: error.code,
      status: error.status,
    }),
  );
}

function outcomeOf(error: ServiceError, caller: User | Machine): "denied" | "failure" | null {
  if (error.status === 403) return "denied";
  if ([404, 409, 412].includes(error.status)) return "failure";
  return error.status === 401 && caller.kind === "machine" ? "failure" : null;
}

/** Whose chain the record belongs to: the organization in which the caller acts, if a member of it; else the caller's. */
async function placeOf(deps: Deps, caller: User | Machine): Promise<{ orgId: string | null; actor: Actor } | null> {
  const { pool } = deps.database;
  if (caller.kind === "user") {
    const membership = await findMembership(pool, caller.userId, caller.orgId);
    return { orgId: membership?.status === "active" ? membership.org_id : null, actor: userActor(caller) };
  }
  const client = await findClientOrg(pool, caller.clientId);
  if (client === null) return null;
  const application = client.application_id === null ? {} : { application_id: client.application_id };
  return { orgId: client.org_id, actor: { type: "client", id: caller.clientId, ...application } };
}

/** Parameters come as they were sent: what has not the form of an id is not repeated. */
function plain({ type, id, parent_id }: AuditDraft["target"]): AuditDraft["target"] {
  const isId = (text: string): boolean => /^[\w-]{1,64}$/.test(text);
  return {
    type,
    id: id !== null && isId(id) ? id : null,
    ...(parent_id !== undefined && isId(parent_id) ? { parent_id } : {}),
  };
}
