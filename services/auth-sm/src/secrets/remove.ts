import type { RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/postgres";
import type { SecretTarget } from "../access/secret.ts";
import { requireWritableSecret } from "../access/secret.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { deleteSecret } from "../store/secrets.ts";

/** DELETE /api/sm/v1/secrets/{uid} and DELETE /api/org/folders/{id}/secrets/{uid}: nothing of it can be had again. */
export function removeSecret(deps: Deps, call: SecretTarget & { request: RequestContext }): Promise<void> {
  return deps.database.transaction(async (tx) => {
    const { folder, secret } = await requireWritableSecret(tx, deps, call);
    await deleteSecret(tx, folder.orgId, secret.uid);
    await enqueueAudit(
      tx,
      auditOf(deps, call.request, {
        org_id: folder.orgId,
        action: "secret.deleted",
        actor: folder.actor,
        target: { type: "secret", id: secret.uid, parent_id: folder.folderId },
        status: 204,
        changes: { version: secret.version },
      }),
    );
  });
}
