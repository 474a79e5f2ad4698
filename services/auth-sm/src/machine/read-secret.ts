import { ServiceError } from "@coffer/errors";
import { type Call, type NotModified, notModified, tagged, type Tagged } from "@coffer/http";
import { activeClient } from "../access/client.ts";
import { auditOf } from "../audit.ts";
import { callingClientOf, type Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { SecretPath } from "../secrets/path.ts";
import { secretTag, secretView } from "../secrets/view.ts";

/** GET /api/sm/v1/secrets/{uid} */
export async function readSecret(
  deps: Deps,
  { caller, params, held, request }: Call<Machine, SecretPath>,
): Promise<Tagged | NotModified> {
  const row = await deps.reads.secret(callingClientOf(deps, caller), params.uid);
  const { orgId, actor } = activeClient(caller, row);
  if (row === null || row.uid === null) throw new ServiceError("secret_not_found", "secret not found");
  if (row.permission === null) throw new ServiceError("access_denied", "this client has no access to the folder");
  const tag = secretTag(row);
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(
    auditOf(deps, request, {
      org_id: orgId,
      action: "secret.read",
      actor,
      target: { type: "secret", id: row.uid, parent_id: row.folder_id },
      status: 200,
    }),
  );
  return tagged(tag, secretView(row));
}
