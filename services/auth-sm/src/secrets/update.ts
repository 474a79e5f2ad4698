import { ServiceError } from "@coffer/errors";
import type { RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/postgres";
import { requireKeyVersion } from "../access/key-version.ts";
import type { SecretTarget } from "../access/secret.ts";
import { requireWritableSecret } from "../access/secret.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { replaceSecret } from "../store/secrets.ts";
import type { SecretUpdate } from "./bodies.ts";
import type { SecretReceipt } from "./view.ts";
import { secretTag } from "./view.ts";

/** PUT /api/sm/v1/secrets/{uid} and PUT /api/org/folders/{id}/secrets/{uid} */
export function updateSecret(
  deps: Deps,
  call: SecretTarget & { body: SecretUpdate; request: RequestContext; expected: string | undefined },
): Promise<SecretReceipt> {
  const { body, request, expected } = call;
  return deps.database.transaction(async (tx) => {
    const { folder, secret: present } = await requireWritableSecret(tx, deps, call);
    requireVersion(expected, present);
    requireKeyVersion(body.key_version, folder.keyVersion);
    const secret = await replaceSecret(tx, {
      orgId: folder.orgId,
      uid: present.uid,
      encryptedPayload: body.encrypted_payload,
      wrappedDek: body.wrapped_dek,
      fields: body.fields ?? {},
      title: body.title,
      titleEncrypted: body.title_encrypted,
      keyVersion: folder.keyVersion,
      now: deps.now(),
    });
    await enqueueAudit(
      tx,
      auditOf(deps, request, {
        org_id: folder.orgId,
        action: "secret.updated",
        actor: folder.actor,
        target: { type: "secret", id: secret.uid, parent_id: folder.folderId },
        status: 200,
        changes: { version: secret.version },
      }),
    );
    return secret;
  });
}

/** `expected` is what `If-Match` said: a version, the entity tag of a read, or `*`. */
function requireVersion(expected: string | undefined, present: SecretReceipt): void {
  const allowed = [undefined, "*", String(present.version), secretTag(present)];
  if (!allowed.includes(expected)) {
    throw new ServiceError(
      "precondition_failed",
      `the secret has changed: its version is ${present.version}; read it again, then write`,
    );
  }
}
