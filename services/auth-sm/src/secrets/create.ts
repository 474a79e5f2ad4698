import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { enqueueAudit } from "@coffer/postgres";
import { requireFolder } from "../access/folder.ts";
import { requireKeyVersion } from "../access/key-version.ts";
import { auditOf } from "../audit.ts";
import type { Machine } from "../callers/machine.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { insertSecret } from "../store/secrets.ts";
import type { NewSecret } from "./bodies.ts";
import { newSecretUid } from "./uid.ts";
import type { SecretReceipt } from "./view.ts";

/** POST /api/sm/v1/secrets and POST /api/org/folders/{id}/secrets */
export function createSecret(
  deps: Deps,
  { caller, body, request }: Pick<Call<Machine | User, unknown, NewSecret>, "caller" | "body" | "request">,
): Promise<SecretReceipt> {
  return deps.database.transaction(async (tx) => {
    const folder = await requireFolder(tx, deps, caller, body.folder_id, "write");
    requireKeyVersion(body.key_version, folder.keyVersion);
    const secret = await insertSecret(tx, {
      orgId: folder.orgId,
      uid: body.uid ?? newSecretUid(deps.randomBytes),
      folderId: folder.folderId,
      recordType: body.record_type,
      encryptedPayload: body.encrypted_payload,
      wrappedDek: body.wrapped_dek,
      fields: body.fields ?? {},
      title: body.title,
      titleEncrypted: body.title_encrypted,
      keyVersion: folder.keyVersion,
      now: deps.now(),
    });
    if (secret === null) throw new ServiceError("invalid_request", "this uid is taken: make another one");
    await enqueueAudit(
      tx,
      auditOf(deps, request, {
        org_id: folder.orgId,
        action: "secret.created",
        actor: folder.actor,
        target: { type: "secret", id: secret.uid, parent_id: folder.folderId },
        status: 201,
        changes: { record_type: secret.record_type, version: secret.version },
      }),
    );
    return secret;
  });
}
