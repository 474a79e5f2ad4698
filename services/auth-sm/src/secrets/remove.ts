import type { RequestContext } from "@coffer/http";
import { requireWritableSecret, type SecretTarget } from "../access/secret.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { retrySecretConflicts } from "./retry-conflicts.ts";
import { requireVersion } from "./require-version.ts";

/**
 * DELETE /api/sm/v1/secrets/{uid} and DELETE /api/org/folders/{id}/secrets/{uid}
 * Cannot be undone.
 */
export async function removeSecret(
  deps: Deps,
  call: SecretTarget & { request: RequestContext; expected: string | undefined },
): Promise<void> {
  await retrySecretConflicts(async () => {
    const { folder, secret: present } = await requireWritableSecret(deps, call);
    requireVersion(call.expected, present);
    return deps.writes.remove({
      present,
      folder,
      now: deps.now(),
      audit: auditOf(deps, call.request, {
        org_id: folder.orgId,
        action: "secret.deleted",
        actor: folder.actor,
        target: { type: "secret", id: present.uid, parent_id: folder.folderId },
        status: 204,
        changes: { version: present.version },
      }),
    });
  });
}
