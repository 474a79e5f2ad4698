import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { requireReadableField } from "../access/machine-reads.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { FieldPath } from "../secrets/path.ts";

/** One encrypted field of a secret, with the values that decrypt it. */
export interface FieldView {
  uid: string;
  field: string;
  /** The encrypted title; empty when the client gave none. */
  title_encrypted: string;
  value_encrypted: string;
  updated_at: string;
  folder_id: string;
  secret_uid: string;
  wrapped_dek: string;
  key_version: number;
}

/** GET /api/sm/v1/secrets/{uid}/fields/{field} */
export async function readField(
  deps: Deps,
  { caller, params, audit }: AuditedCall<Machine, FieldPath>,
): Promise<FieldView> {
  const { orgId, actor, secret } = await requireReadableField(deps, caller, params);
  if (secret.value === null) throw new ServiceError("secret_not_found", "the secret has no field by that name");
  await deps.audit(audit({ orgId, actor, target: { parent_id: secret.folder_id } }));
  return {
    uid: secret.uid,
    field: params.field,
    title_encrypted: secret.title_encrypted,
    value_encrypted: secret.value,
    updated_at: secret.updated_at,
    folder_id: secret.folder_id,
    secret_uid: secret.uid,
    wrapped_dek: secret.wrapped_dek,
    key_version: secret.key_version,
  };
}
