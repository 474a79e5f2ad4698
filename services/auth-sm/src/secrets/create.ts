import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { requireFolder } from "../access/folder.ts";
import { requireKeyVersion } from "../folders/key-version.ts";
import { auditOf } from "../audit.ts";
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
  { caller, body, request }: Pick<Call<Machine | User, unknown, NewSecret>, "caller" | "body" | "request">,
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
      audit: auditOf(deps, request, {
        org_id: folder.orgId,
        action: "secret.created",
        actor: folder.actor,
        target: { type: "secret", id: uid, parent_id: folder.folderId },
        status: 201,
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
    auditOf(deps, request, {
      org_id: folder.orgId,
      action: "secret.created",
      actor: folder.actor,
      target: { type: "secret", id: uid, parent_id: folder.folderId },
      outcome: "failure",
      reason: "uid_taken",
      status: 400,
    }),
  );
  throw new ServiceError("invalid_request", "this uid is taken: make another one", {
    details: [{ field: "uid", issue: "is taken" }],
  });
}
