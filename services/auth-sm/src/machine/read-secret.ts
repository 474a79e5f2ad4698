import { type Call, type NotModified, notModified, tagged, type Tagged } from "@coffer/http";
import { requireReadableSecret } from "../access/machine-reads.ts";
import { auditOf } from "../audit.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { SecretPath } from "../secrets/path.ts";
import { secretTag, secretView } from "../secrets/view.ts";

/** GET /api/sm/v1/secrets/{uid} */
export async function readSecret(
  deps: Deps,
  { caller, params, held, request }: Call<Machine, SecretPath>,
): Promise<Tagged | NotModified> {
  const { orgId, actor, secret } = await requireReadableSecret(deps, caller, params.uid);
  const tag = secretTag(secret);
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(
    auditOf(deps, request, {
      org_id: orgId,
      action: "secret.read",
      actor,
      target: { type: "secret", id: secret.uid, parent_id: secret.folder_id },
      status: 200,
    }),
  );
  return tagged(tag, secretView(secret));
}
