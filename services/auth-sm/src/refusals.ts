import type { ServiceError } from "@coffer/errors";
import type { Anonymous, RefusedCall, Route } from "@coffer/http";
import { type Attempt, attemptedAction, plainTarget, refusalOutcome, userActor } from "@coffer/service";
import { type Actor, auditOf } from "./audit.ts";
import { chainsOf } from "./accounts/user-events.ts";
import type { Machine } from "./callers/machine.ts";
import type { User } from "./callers/user.ts";
import type { Deps } from "./deps.ts";
import { findClientOrg } from "./store/clients.ts";
import { findMembership } from "./store/memberships.ts";

export { type Attempt, attempting } from "@coffer/service";

export type Caller = User | Machine | Anonymous;

/** The audit target of actions on one's own account. */
export const oneself: Attempt["target"] = (_params, { actorId }) => ({ type: "user", id: actorId });

/** The audit target of a machine's actions on itself. */
export const itself: Attempt["target"] = (_params, { actorId }) => ({ type: "client", id: actorId });

/**
 * Records a refused call before the response: a denial (403) or a failed attempt (404, 409, 412;
 * also 401 for a machine whose client has ended). An anonymous attempt is not recorded.
 */
export async function recordRefusal(
  deps: Deps,
  { attempt }: Route<Deps, Caller> & { attempt?: Attempt },
  call: RefusedCall<Caller>,
  error: ServiceError,
): Promise<void> {
  if (attempt !== undefined) await recordRefusedAttempt(deps, attempt, call, error);
}

/** Records a refused attempt that did not come through a route. */
export async function recordRefusedAttempt(
  deps: Deps,
  attempt: Attempt,
  { caller, params, query, body, request }: RefusedCall<Caller>,
  error: ServiceError,
): Promise<void> {
  if (caller === undefined || caller.kind === "anonymous") return;
  const outcome = outcomeOf(error, caller);
  if (outcome === null) return;
  const who = await chainOf(deps, caller);
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
  // An action on one's own account is recorded in the chain of each of the person's organizations.
  const chains = attempt.target === oneself ? await chainsOf(deps.database.pool, actorId) : [orgId];
  await Promise.all(chains.map((chain) => deps.audit(auditOf(deps, request, { org_id: chain, ...entry }))));
}

function outcomeOf(error: ServiceError, caller: User | Machine): "denied" | "failure" | null {
  return refusalOutcome(error) ?? (error.status === 401 && caller.kind === "machine" ? "failure" : null);
}

/**
 * The audit chain of the record: the organization in which the caller acts, if a member of it; else
 * the caller's own.
 */
async function chainOf(deps: Deps, caller: User | Machine): Promise<{ orgId: string | null; actor: Actor } | null> {
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
