import type { AuditedCall } from "@coffer/http";
import type { User } from "@coffer/service";
import type { Deps } from "../deps.ts";
import type { RecordContent, RecordPath } from "./bodies.ts";
import { expectedMoment, notAsExpected } from "./expected.ts";
import type { RecordView } from "./view.ts";
import { writeRecord } from "./write.ts";

/**
 * PUT /api/vaults/{id}/records/{rid}: the last write wins, unless `If-Match` names the version to
 * replace.
 */
export async function updateRecord(
  deps: Deps,
  call: AuditedCall<User, RecordPath, RecordContent>,
): Promise<RecordView> {
  const { params, body } = call;
  const { id: vaultId, rid: id } = params;
  const { type, encrypted_data, key_version } = body;
  const expected = expectedMoment(call.expected);
  const written = await writeRecord(deps, call, { id, key_version, type }, (to) =>
    deps.writes.replace({ ...to, content: body, expected }),
  );
  if (written === "other") throw await notAsExpected(deps.database.pool, { vaultId, id, expected });
  const { created_at, updated_at } = written;
  return { id, vault_id: vaultId, type, encrypted_data, created_at, updated_at };
}
