import type { AuditAction } from "@coffer/contract";
import type { AuditDraft } from "@coffer/events";
import type { RequestContext } from "@coffer/http";
import { auditOf, type User, userActor } from "@coffer/service";
import type { Deps } from "../deps.ts";

/** The audit record of an action on one record. */
export function recordAudit(
  deps: Pick<Deps, "newId">,
  { caller, request }: { caller: User; request: RequestContext },
  entry: {
    org_id: string | null;
    action: AuditAction;
    vaultId: string;
    id: string;
    status: number;
    changes?: NonNullable<AuditDraft["changes"]>;
  },
): AuditDraft {
  const { vaultId, id, ...rest } = entry;
  return auditOf(deps, request, {
    ...rest,
    actor: userActor(caller),
    target: { type: "record", id, parent_id: vaultId },
  });
}
