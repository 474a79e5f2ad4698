import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireLockedApplication } from "../access/application.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { lockApplicationClient, revokeClientRow } from "../store/machines/application-clients.ts";
import { holdApplication } from "../store/machines/applications.ts";
import { listGrantedFolderIds } from "../store/machines/client-folders.ts";
import type { ClientPath } from "./bodies.ts";

/**
 * DELETE /api/org/applications/{id}/clients/{client_id}
 * Takes effect with the client's next request and cannot be undone. Idempotent.
 */
export function revokeClient(deps: Deps, { caller, params, audit }: AuditedCall<User, ClientPath>): Promise<void> {
  return transactionInSession(deps, caller, async (tx) => {
    const reached = await requireLockedApplication(tx, caller, params.id, { allowed: managers, lock: holdApplication });
    const { orgId, actor, application } = reached;
    const now = deps.now();
    const client = await lockApplicationClient(tx, { applicationId: application.id, clientId: params.client_id, now });
    if (client === null) throw new ServiceError("not_found", "client not found");
    if (client.revoked) return;
    await revokeClientRow(tx, client.id, now);
    const folderIds = await listGrantedFolderIds(tx, [client.id]);
    await publishFolderChange(tx, deps, { folderIds, change: "membership" });
    await enqueueAudit(tx, audit({ orgId, actor }));
  });
}
