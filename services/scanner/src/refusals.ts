import type { ServiceError } from "@coffer/errors";
import type { RefusedCall, Route } from "@coffer/http";
import { auditOf } from "@coffer/service/stateless";
import { actorOf, recordAudit } from "./audit.ts";
import type { Caller } from "./callers/caller.ts";
import type { Deps } from "./deps.ts";
import { noTarget, scanPath } from "./scan/target.ts";

/**
 * Records a denied scan before its answer goes out: of a machine in the chain of its organization, of a person in the person's
 * own, since they act in no organization. What auth-sm refuses to identify it records itself.
 */
export async function recordRefusal(
  deps: Deps,
  { path }: Route<Deps, Caller>,
  { caller, request }: RefusedCall<Caller>,
  { status, code }: ServiceError,
): Promise<void> {
  if (path !== scanPath || status !== 403 || caller === undefined) return;
  const orgId = caller.kind === "machine" ? caller.orgId : null;
  const entry = { action: "scanner.scanned", outcome: "denied", reason: code, status } as const;
  await recordAudit(
    deps,
    auditOf(deps, request, { org_id: orgId, actor: actorOf(caller), target: noTarget, ...entry }),
  );
}
