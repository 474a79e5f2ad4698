import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { activeClient } from "../access/client.ts";
import { auditOf } from "../audit.ts";
import { callingClientOf, type Machine } from "../callers/machine.ts";
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
export async function readField(deps: Deps, { caller, params, request }: Call<Machine, FieldPath>): Promise<FieldView> {
  const row = await deps.reads.field(callingClientOf(deps, caller), params.uid, params.field);
  const { orgId, actor } = activeClient(caller, row);
  if (row === null || row.uid === null) throw new ServiceError("secret_not_found", "secret not found");
  if (row.permission === null) throw new ServiceError("access_denied", "this client has no access to the folder");
  if (row.value === null) throw new ServiceError("secret_not_found", "the secret has no field by that name");
  await deps.audit(
    auditOf(deps, request, {
      org_id: orgId,
      action: "secret.field.read",
      actor,
      target: { type: "secret", id: row.uid, parent_id: row.folder_id },
      status: 200,
    }),
  );
  return {
    uid: row.uid,
    field: params.field,
    title_encrypted: row.title_encrypted,
    value_encrypted: row.value,
    updated_at: row.updated_at,
    folder_id: row.folder_id,
    secret_uid: row.uid,
    wrapped_dek: row.wrapped_dek,
    key_version: row.key_version,
  };
}
