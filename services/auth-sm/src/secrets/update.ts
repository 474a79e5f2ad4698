import type { RequestContext } from "@coffer/http";
import { requireKeyVersion } from "../folders/key-version.ts";
import { requireWritableSecret, type SecretTarget } from "../access/secret.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { retrySecretConflicts } from "./retry-conflicts.ts";
import type { SecretUpdate } from "./bodies.ts";
import { requireLaterExpiry } from "./expiry.ts";
import { requireVersion } from "./require-version.ts";
import type { SecretReceipt } from "./view.ts";

/** PUT /api/sm/v1/secrets/{uid} and PUT /api/org/folders/{id}/secrets/{uid} */
export function updateSecret(
  deps: Deps,
  call: SecretTarget & { body: SecretUpdate; request: RequestContext; expected: string | undefined },
): Promise<SecretReceipt> {
  const { body, request, expected } = call;
  return retrySecretConflicts(async () => {
    const { folder, secret: present } = await requireWritableSecret(deps, call);
    const now = deps.now();
    requireLaterExpiry(body.expires_at, now);
    requireVersion(expected, present);
    requireKeyVersion(body.key_version, folder.keyVersion);
    return deps.writes.replace({
      present,
      content: body,
      folder,
      now,
      audit: auditOf(deps, request, {
        org_id: folder.orgId,
        action: "secret.updated",
        actor: folder.actor,
        target: { type: "secret", id: present.uid, parent_id: folder.folderId },
        status: 200,
        changes: {
          version: present.version + 1,
          ...(body.expires_at !== undefined && { expires_at: body.expires_at }),
        },
      }),
    });
  });
}
