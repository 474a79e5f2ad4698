import type { ServiceError } from "@coffer/errors";
import type { RefusedCall, Route } from "@coffer/http";
import type { Attempt, User } from "@coffer/service";
import { attemptedAction, auditOf, plainTarget, userActor } from "@coffer/service";
import { actingOrg } from "./access.ts";
import { appendAudit } from "./audit/append.ts";
import type { Deps } from "./deps.ts";

/**
 * Records a refused call before its answer goes out: a denial (403), or an attempt that failed (404, 409). It belongs
 * in the chain of the organization in which the caller acts, or without one in the caller's own.
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
  const orgId = await actingOrg(deps, caller);
  const sent = { actorId: caller.userId, orgId, query, body };
  const record = auditOf(deps, request, {
    org_id: orgId,
    action: attemptedAction(attempt, sent),
    actor: userActor(caller),
    target: plainTarget(attempt.target(params, sent)),
    outcome,
    reason: error.code,
    status: error.status,
  });
  await appendAudit(deps, { records: [record] });
}

function outcomeOf({ status }: ServiceError): "denied" | "failure" | null {
  if (status === 403) return "denied";
  return status === 404 || status === 409 ? "failure" : null;
}
