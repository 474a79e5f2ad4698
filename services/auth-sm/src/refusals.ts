import type { ServiceError } from "@coffer/errors";
import {
  type Actor,
  type Anonymous,
  auditOfRefusal,
  type RefusedCall,
  type Route,
  type RouteAudit,
} from "@coffer/http";
import { refusalOutcome, userActor } from "@coffer/service";
import { chainsOf } from "./accounts/user-events.ts";
import type { Machine } from "./callers/machine.ts";
import type { User } from "./callers/user.ts";
import type { Deps } from "./deps.ts";
import { findClientOrg } from "./store/machines/clients.ts";
import { findMembership } from "./store/organizations/memberships.ts";

export type Caller = User | Machine | Anonymous;

/** The audit target of actions on one's own account. */
export const oneself: RouteAudit["target"] = (_params, { actorId }) => ({ type: "user", id: actorId });

/** The audit target of a machine's actions on itself. */
export const itself: RouteAudit["target"] = (_params, { actorId }) => ({ type: "client", id: actorId });

/**
 * Records a refused call before the response: a denial (403) or a failed attempt (404, 409, 412;
 * also 401 for a machine whose client has ended). An anonymous attempt is not recorded.
 */
export async function recordRefusal(
  deps: Deps,
  { audit }: Route<Deps, Caller>,
  call: RefusedCall<Caller>,
  error: ServiceError,
): Promise<void> {
  if (audit !== undefined) await recordRefusedCall(deps, audit, call, error);
}

/** Records a refused call that did not come through a route. */
export async function recordRefusedCall(
  deps: Deps,
  audit: RouteAudit,
  call: RefusedCall<Caller>,
  error: ServiceError,
): Promise<void> {
  const { caller } = call;
  if (caller === undefined || caller.kind === "anonymous") return;
  const outcome = outcomeOf(error, caller);
  if (outcome === null) return;
  const who = await chainOf(deps, caller);
  if (who === null) return;
  const { actor, orgId } = who;
  const recorded: RouteAudit = error.status === 401 ? { ...audit, action: "client.auth.failed" } : audit;
  // An action on one's own account is recorded in the chain of each of the person's organizations.
  const isOwn = caller.kind === "user" && audit.target === oneself;
  const chains = isOwn ? await chainsOf(deps.database.pool, caller.userId) : [orgId];
  await Promise.all(
    chains.map((chain) => deps.audit(auditOfRefusal(deps, recorded, call, { orgId: chain, actor, outcome, error }))),
  );
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
