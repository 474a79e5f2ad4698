import type { ServiceError } from "@coffer/errors";
import { auditOfRefusal, type RefusedCall, type Route } from "@coffer/http";
import { actorOf, recordAudit } from "./audit.ts";
import type { Caller } from "./callers/caller.ts";
import type { Deps } from "./deps.ts";

/**
 * Records a denied scan before its answer goes out: of a machine in the chain of its organization,
 * of a person in the person's own, since they act in no organization. What auth-sm refuses to
 * identify it records itself.
 */
export async function recordRefusal(
  deps: Deps,
  { audit }: Route<Deps, Caller>,
  call: RefusedCall<Caller>,
  error: ServiceError,
): Promise<void> {
  const { caller } = call;
  if (audit === undefined || error.status !== 403 || caller === undefined) return;
  const orgId = caller.kind === "machine" ? caller.orgId : null;
  await recordAudit(
    deps,
    auditOfRefusal(deps, audit, call, { orgId, actor: actorOf(caller), outcome: "denied", error }),
  );
}
