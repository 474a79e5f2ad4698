import { type AuditedCall, auditOf } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireLockedApplication } from "../access/application.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { revokeApplicationClients } from "../store/machines/application-clients.ts";
import { deleteApplication, lockApplication } from "../store/machines/applications.ts";
import { listGrantedFolderIds } from "../store/machines/client-folders.ts";
import type { ApplicationPath } from "./bodies.ts";

/** DELETE /api/org/applications/{id}: Revokes the application's clients and deletes its tokens. */
export function removeApplication(
  deps: Deps,
  { caller, params, request, audit }: AuditedCall<User, ApplicationPath>,
): Promise<void> {
  return transactionInSession(deps, caller, async (tx) => {
    const reached = await requireLockedApplication(tx, caller, params.id, { allowed: managers, lock: lockApplication });
    const { orgId, actor, application } = reached;
    const revoked = await revokeApplicationClients(tx, application.id, deps.now());
    await deleteApplication(tx, application.id);
    const folderIds = await listGrantedFolderIds(tx, revoked);
    await publishFolderChange(tx, deps, { folderIds, change: "membership" });
    for (const clientId of revoked) {
      const target = { type: "client", id: clientId, parent_id: application.id };
      const entry = { org_id: orgId, actor, target, reason: "application_deleted", status: 204 };
      await enqueueAudit(tx, auditOf(deps, request, { action: "client.revoked", ...entry }));
    }
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        target: { parent_id: orgId },
        changes: { name: application.name },
        count: revoked.length,
      }),
    );
  });
}
