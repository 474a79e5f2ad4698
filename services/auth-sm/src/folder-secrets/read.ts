import type { Call, NotModified, Tagged } from "@coffer/http";
import { notModified, tagged } from "@coffer/http";
import { requireReadableFolder } from "../access/readable-folder.ts";
import { secretNotFound } from "../access/secret.ts";
import { auditOf } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { FolderSecretPath } from "../secrets/path.ts";
import { secretMetadata, secretTag, secretView } from "../secrets/view.ts";
import { findSecretInFolder } from "../store/secrets.ts";

/** GET /api/org/folders/{id}/secrets/{uid} */
export async function readFolderSecret(
  deps: Deps,
  { caller, params, held, request }: Call<User, FolderSecretPath>,
): Promise<Tagged | NotModified> {
  const folder = await requireReadableFolder(deps.database.pool, caller, params.id);
  const secret = await findSecretInFolder(deps.database.pool, folder.folderId, params.uid);
  if (secret === null) throw secretNotFound(caller);
  const tag = secretTag(secret);
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(
    auditOf(deps, request, {
      org_id: folder.orgId,
      action: "secret.read",
      actor: folder.actor,
      target: { type: "secret", id: secret.uid, parent_id: folder.folderId },
      status: 200,
    }),
  );
  return tagged(tag, folder.ciphertext ? secretView(secret) : secretMetadata(secret));
}
