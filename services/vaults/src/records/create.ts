import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import type { User } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { idTaken } from "../errors.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import type { NewRecord } from "./bodies.ts";
import type { RecordView } from "./view.ts";
import { writeRecord } from "./write.ts";

/** POST /api/vaults/{id}/records */
export async function createRecord(deps: Deps, call: AuditedCall<User, VaultPath, NewRecord>): Promise<RecordView> {
  const { params, body } = call;
  const id = body.id ?? deps.newId();
  const { type, encrypted_data, key_version } = body;
  const written = await writeRecord(deps, call, { id, key_version, type }, (to) =>
    deps.writes.insert({ ...to, content: body }),
  );
  if (written === "taken") throw new ServiceError("conflict", idTaken("record"));
  const { created_at, updated_at } = written;
  return { id, vault_id: params.id, type, encrypted_data, created_at, updated_at };
}
