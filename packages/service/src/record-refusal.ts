import type { ServiceError } from "@coffer/errors";
import type { AuditDraft } from "@coffer/events";
import { auditOfRefusal, type RefusedCall, type Route } from "@coffer/http";
import { type User, userActor } from "./user.ts";

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

/** Records a person's refused call before its response. A route without `audit` has no record. */
export async function recordRefusal<Deps>(
  { newId, orgOf, record }: RefusalRecorder,
  { audit }: Route<Deps, User>,
  call: RefusedCall<User>,
  error: ServiceError,
): Promise<void> {
  const { caller, params } = call;
  const outcome = refusalOutcome(error);
  if (audit === undefined || caller === undefined || outcome === null) return;
  const orgId = await orgOf(caller, params);
  await record(auditOfRefusal({ newId }, audit, call, { orgId, actor: userActor(caller), outcome, error }));
}
