import { type AuditedCall, notModified, type NotModified, tagged, type Tagged } from "@coffer/http";
import { requireReadableSecret } from "../access/machine-reads.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { SecretPath } from "../secrets/path.ts";
import { secretTag, secretView } from "../secrets/view.ts";

/** GET /api/sm/v1/secrets/{uid} */
export async function readSecret(
  deps: Deps,
  { caller, params, held, audit }: AuditedCall<Machine, SecretPath>,
): Promise<Tagged | NotModified> {
  const { orgId, actor, secret } = await requireReadableSecret(deps, caller, params.uid);
  const tag = secretTag(secret);
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(audit({ orgId, actor, target: { parent_id: secret.folder_id } }));
  return tagged(tag, secretView(secret));
}
