import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireLockedApplication } from "../access/application.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireManagedFolder } from "../access/managed-folder.ts";
import { holders } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { deleteClientGrant, lockApplicationClient } from "../store/machines/application-clients.ts";
import { holdApplication } from "../store/machines/applications.ts";
import type { GrantPath } from "./bodies.ts";

/** DELETE /api/org/applications/{id}/clients/{client_id}/folders/{folder_id} */
export function revokeGrant(deps: Deps, { caller, params, audit }: AuditedCall<User, GrantPath>): Promise<void> {
  return transactionInSession(deps, caller, async (tx) => {
    const reached = await requireLockedApplication(tx, caller, params.id, { allowed: holders, lock: holdApplication });
    const { orgId, actor, application } = reached;
    const now = deps.now();
    const client = await lockApplicationClient(tx, { applicationId: application.id, clientId: params.client_id, now });
    if (client === null) throw new ServiceError("not_found", "client not found");
    const { folder } = await requireManagedFolder(tx, caller, params.folder_id, "grants");
    if (!(await deleteClientGrant(tx, client.id, folder.id))) {
      throw new ServiceError("not_found", "the client has no grant on this folder");
    }
    await publishFolderChange(tx, deps, { folderIds: [folder.id], change: "membership" });
    await enqueueAudit(tx, audit({ orgId, actor, changes: { folder_id: folder.id } }));
  });
}
