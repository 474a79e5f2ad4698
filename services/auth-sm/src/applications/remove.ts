import type { Call } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireLockedApplication } from "../access/application.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { managers } from "../access/membership.ts";
import { auditOf } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { revokeApplicationClients } from "../store/application-clients.ts";
import { deleteApplication, lockApplication } from "../store/applications.ts";
import { listGrantedFolderIds } from "../store/client-folders.ts";
import type { ApplicationPath } from "./bodies.ts";

/** DELETE /api/org/applications/{id}: Revokes the application's clients and deletes its tokens. */
export function removeApplication(deps: Deps, { caller, params, request }: Call<User, ApplicationPath>): Promise<void> {
  return transactionInSession(deps, caller, async (tx) => {
    const reached = await requireLockedApplication(tx, caller, params.id, { allowed: managers, lock: lockApplication });
    const { orgId, actor, application } = reached;
    const revoked = await revokeApplicationClients(tx, application.id, deps.now());
    await deleteApplication(tx, application.id);
    const folderIds = await listGrantedFolderIds(tx, revoked);
    await publishFolderChange(tx, deps, { folderIds, change: "membership" });
    const record = { org_id: orgId, actor, status: 204 } as const;
    for (const clientId of revoked) {
      const target = { type: "client", id: clientId, parent_id: application.id };
      const entry = { ...record, action: "client.revoked", target, reason: "application_deleted" } as const;
      await enqueueAudit(tx, auditOf(deps, request, entry));
    }
    await enqueueAudit(
      tx,
      auditOf(deps, request, {
        ...record,
        action: "application.deleted",
        target: { type: "application", id: application.id, parent_id: orgId },
        changes: { name: application.name },
        count: revoked.length,
      }),
    );
  });
}
