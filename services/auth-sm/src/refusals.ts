import type { ServiceError } from "@coffer/errors";
import type { Anonymous, RefusedCall, Route } from "@coffer/http";
import type { Attempt } from "@coffer/service";
import { attemptedAction, plainTarget } from "@coffer/service";
import { userActor } from "./access/membership.ts";
import type { Actor } from "./audit.ts";
import { chainsOf } from "./accounts/user-events.ts";
import { auditOf } from "./audit.ts";
import type { Machine } from "./callers/machine.ts";
import type { User } from "./callers/user.ts";
import type { Deps } from "./deps.ts";
import { findClientOrg } from "./store/clients.ts";
import { findMembership } from "./store/memberships.ts";

export type { Attempt } from "@coffer/service";
export { attempting } from "@coffer/service";

/** Whoever calls this service. */
export type Caller = User | Machine | Anonymous;

/** The target of what people do to their own account. */
export const oneself: Attempt["target"] = (_params, { actorId }) => ({ type: "user", id: actorId });

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
  const { actor, orgId } = who;
  const actorId = caller.kind === "user" ? caller.userId : caller.clientId;
  const sent = { actorId, orgId, query, body };
  const attempted = attemptedAction(attempt, sent);
  const entry = {
    action: error.status === 401 ? "client.auth.failed" : attempted,
    actor,
    target: plainTarget(attempt.target(params, sent)),
    outcome,
    reason: error.code,
    status: error.status,
  } as const;
  // What people do to their own account is in the chain of each of their organizations.
  const chains = attempt.target === oneself ? await chainsOf(deps.database.pool, actorId) : [orgId];
  await Promise.all(chains.map((chain) => deps.audit(auditOf(deps, request, { org_id: chain, ...entry }))));
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
    const membership = await findMembership(pool, caller, deps.config.COFFER_BILLING);
    return { orgId: membership?.status === "active" ? membership.org_id : null, actor: userActor(caller) };
  }
  const client = await findClientOrg(pool, caller.clientId);
  if (client === null) return null;
  const application = client.application_id === null ? {} : { application_id: client.application_id };
  return { orgId: client.org_id, actor: { type: "client", id: caller.clientId, ...application } };
}
