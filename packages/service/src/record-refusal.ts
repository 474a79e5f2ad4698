import type { ServiceError } from "@coffer/errors";
import type { AuditDraft } from "@coffer/events";
import type { RefusedCall, Route } from "@coffer/http";
import { type Attempt, attemptedAction, plainTarget } from "./attempt.ts";
import { auditOf, userActor } from "./audit-of.ts";
import type { User } from "./user.ts";

/** The service's part of recording a refused call. */
export interface RefusalRecorder {
  newId(): string;
  /** The organization in whose chain the record belongs; null for the caller's own chain. */
  orgOf(caller: User, params: Readonly<Record<string, string>>): Promise<string | null>;
  /** Resolves when the record is durable. */
  record(draft: AuditDraft): Promise<unknown>;
}

/** The audit outcome of a refusal: `denied` (403) or `failure` (404, 409, 412); null for no record. */
export function refusalOutcome({ status }: Pick<ServiceError, "status">): "denied" | "failure" | null {
  if (status === 403) return "denied";
  return [404, 409, 412].includes(status) ? "failure" : null;
}

/** Records a person's refused call before its response. A route without an attempt has no record. */
export async function recordRefusal<Deps>(
  { newId, orgOf, record }: RefusalRecorder,
  { attempt }: Route<Deps, User> & { attempt?: Attempt },
  { caller, params, query, body, request }: RefusedCall<User>,
  error: ServiceError,
): Promise<void> {
  const outcome = refusalOutcome(error);
  if (attempt === undefined || caller === undefined || outcome === null) return;
  const orgId = await orgOf(caller, params);
  const sent = { actorId: caller.userId, orgId, query, body };
  const draft = auditOf({ newId }, request, {
    org_id: orgId,
    action: attemptedAction(attempt, sent),
    actor: userActor(caller),
    target: plainTarget(attempt.target(params, sent)),
    outcome,
    reason: error.code,
    status: error.status,
  });
  await record(draft);
}
