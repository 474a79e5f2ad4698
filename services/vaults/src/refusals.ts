import type { ServiceError } from "@coffer/errors";
import type { RefusedCall, Route } from "@coffer/http";
import type { Attempt, User } from "@coffer/service";
import { attemptedAction, auditOf, plainTarget, userActor } from "@coffer/service";
import type { Deps } from "./deps.ts";
import { findMembership } from "./store/memberships.ts";
import { findVaultOrg } from "./store/vault-org.ts";

/**
 * Records a refused call before its answer goes out: a denial (403), or an attempt that failed (404, 409, 412). It
 * belongs in the chain of the organization of the vault that it is about, if the caller is a member of it; else in that
 * of the one in which the caller acts; else in the caller's own.
 */
export async function recordRefusal(
  deps: Deps,
  route: Route<Deps, User> & { attempt?: Attempt },
  { caller, params, query, body, request }: RefusedCall<User>,
  error: ServiceError,
): Promise<void> {
  const { attempt } = route;
  const outcome = outcomeOf(error);
  if (attempt === undefined || caller === undefined || outcome === null) return;
  const { pool } = deps.database;
  const membership = await findMembership(pool, caller.userId, caller.orgId);
  const acting = membership?.status === "active" ? membership.org_id : null;
  const orgId = (await findVaultOrg(pool, caller.userId, params["id"])) ?? acting;
  const sent = { actorId: caller.userId, orgId, query, body };
  await deps.audit(
    auditOf(deps, request, {
      org_id: orgId,
      action: attemptedAction(attempt, sent),
      actor: userActor(caller),
      target: plainTarget(attempt.target(params, sent)),
      outcome,
      reason: error.code,
      status: error.status,
    }),
  );
}

function outcomeOf({ status }: ServiceError): "denied" | "failure" | null {
  if (status === 403) return "denied";
  return [404, 409, 412].includes(status) ? "failure" : null;
}
