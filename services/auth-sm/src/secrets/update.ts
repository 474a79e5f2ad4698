import type { AuditedCall } from "@coffer/http";
import { requireKeyVersion } from "../folders/key-version.ts";
import { requireWritableSecret, type SecretTarget } from "../access/secret.ts";
import type { Deps } from "../deps.ts";
import { retrySecretConflicts } from "./retry-conflicts.ts";
import type { SecretUpdate } from "./bodies.ts";
import { requireLaterExpiry } from "./expiry.ts";
import { requireVersion } from "./require-version.ts";
import type { SecretReceipt } from "./view.ts";

/** PUT /api/sm/v1/secrets/{uid} and PUT /api/org/folders/{id}/secrets/{uid} */
export function updateSecret(
  deps: Deps,
  call: SecretTarget & Pick<AuditedCall<unknown, unknown, SecretUpdate>, "body" | "expected" | "audit">,
): Promise<SecretReceipt> {
  const { body, expected, audit } = call;
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
      audit: audit({
        orgId: folder.orgId,
        actor: folder.actor,
        target: { parent_id: folder.folderId },
        changes: {
          version: present.version + 1,
          ...(body.expires_at !== undefined && { expires_at: body.expires_at }),
        },
      }),
    });
  });
}
