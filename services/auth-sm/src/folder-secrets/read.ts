import { type AuditedCall, notModified, type NotModified, tagged, type Tagged } from "@coffer/http";
import { readableSecretInFolder } from "../access/readable-folder.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { FolderSecretQuery } from "../secrets/bodies.ts";
import type { FolderSecretPath } from "../secrets/path.ts";
import { secretForPerson, secretMetadata, secretTag } from "../secrets/view.ts";
import { findSecret } from "../store/secrets/secret-in-scope.ts";
import { personScope } from "../store/secrets/secret-scopes.ts";
import { tagFor } from "./tag.ts";

/** GET /api/org/folders/{id}/secrets/{uid} */
export async function readFolderSecret(
  deps: Deps,
  { caller, params, query, held, audit }: AuditedCall<User, FolderSecretPath, undefined, FolderSecretQuery>,
): Promise<Tagged | NotModified> {
  const scope = personScope({ ...caller, now: deps.now() }, params.id);
  const found = await findSecret(deps.database.pool, scope, {
    uid: params.uid,
    withFields: query.fields === "true",
  });
  const { folder, secret } = readableSecretInFolder(caller, params.id, found);
  const tag = tagFor(folder, secretTag(secret));
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(audit({ orgId: folder.orgId, actor: folder.actor }));
  if (!folder.ciphertext) return tagged(tag, secretMetadata(secret));
  const { fields } = secret;
  return tagged(tag, { ...secretForPerson(secret), ...(fields === undefined ? {} : { fields }) });
}
