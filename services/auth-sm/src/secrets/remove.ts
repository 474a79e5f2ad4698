import type { AuditedCall } from "@coffer/http";
import { requireWritableSecret, type SecretTarget } from "../access/secret.ts";
import type { Deps } from "../deps.ts";
import { retrySecretConflicts } from "./retry-conflicts.ts";
import { requireVersion } from "./require-version.ts";

/**
 * DELETE /api/sm/v1/secrets/{uid} and DELETE /api/org/folders/{id}/secrets/{uid}
 * Cannot be undone.
 */
export async function removeSecret(
  deps: Deps,
  call: SecretTarget & Pick<AuditedCall<unknown>, "expected" | "audit">,
): Promise<void> {
  await retrySecretConflicts(async () => {
    const { folder, secret: present } = await requireWritableSecret(deps, call);
    requireVersion(call.expected, present);
    return deps.writes.remove({
      present,
      folder,
      now: deps.now(),
      audit: call.audit({
        orgId: folder.orgId,
        actor: folder.actor,
        target: { parent_id: folder.folderId },
        changes: { version: present.version },
      }),
    });
  });
}
