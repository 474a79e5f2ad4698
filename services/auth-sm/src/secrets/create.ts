import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { requireFolder } from "../access/folder.ts";
import { requireKeyVersion } from "../folders/key-version.ts";
import type { Machine } from "../callers/machine.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { retrySecretConflicts } from "./retry-conflicts.ts";
import type { NewSecret } from "./bodies.ts";
import { requireLaterExpiry } from "./expiry.ts";
import { newSecretUid } from "./uid.ts";
import type { SecretReceipt } from "./view.ts";

/** POST /api/sm/v1/secrets and POST /api/org/folders/{id}/secrets */
export async function createSecret(
  deps: Deps,
  { caller, body, audit }: Pick<AuditedCall<Machine | User, unknown, NewSecret>, "caller" | "body" | "audit">,
): Promise<SecretReceipt> {
  const uid = body.uid ?? newSecretUid(deps.randomBytes);
  const { secret, folder } = await retrySecretConflicts(async () => {
    const folder = await requireFolder(deps, caller, body.folder_id, "write");
    const now = deps.now();
    requireLaterExpiry(body.expires_at, now);
    requireKeyVersion(body.key_version, folder.keyVersion);
    const secret = await deps.writes.insert({
      uid,
      recordType: body.record_type,
      content: body,
      folder,
      now,
      audit: audit({
        orgId: folder.orgId,
        actor: folder.actor,
        target: { id: uid, parent_id: folder.folderId },
        changes: {
          record_type: body.record_type,
          version: 1,
          ...(body.expires_at != null && { expires_at: body.expires_at }),
        },
      }),
    });
    return secret && { secret, folder };
  });
  if (secret !== "taken") return secret;
  await deps.audit(
    audit({
      orgId: folder.orgId,
      actor: folder.actor,
      target: { id: uid, parent_id: folder.folderId },
      outcome: "failure",
      reason: "uid_taken",
      status: 400,
    }),
  );
  throw new ServiceError("invalid_request", "this uid is taken: make another one", {
    details: [{ field: "uid", issue: "is taken" }],
  });
}
