import type { Call } from "@coffer/http";
import { retryOnConflict, type User } from "@coffer/service";
import { requireKeyVersion } from "../vaults/key-version.ts";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { recordAudit } from "./audit.ts";
import type { RecordContent, RecordPath } from "./bodies.ts";
import { busy } from "../errors.ts";
import { expectedMoment, notAsExpected } from "./expected.ts";
import type { RecordView } from "./view.ts";

/**
 * PUT /api/vaults/{id}/records/{rid}: the last write wins, unless `If-Match` names the version to
 * replace.
 */
export async function updateRecord(deps: Deps, call: Call<User, RecordPath, RecordContent>): Promise<RecordView> {
  const { caller, params, body } = call;
  const { id: vaultId, rid: id } = params;
  const expected = expectedMoment(call.expected);
  const written = await retryOnConflict(async () => {
    // In each attempt: the one before may have waited for a lock.
    const { userId } = deps.users.requireActiveSession(caller);
    const entry = { org_id: null, action: "record.updated", vaultId, id, status: 200 } as const;
    const audit = recordAudit(deps, call, { ...entry, changes: { type: body.type } });
    const write = { userId, vaultId, id, eventId: deps.newId(), audit, now: deps.now() };
    const result = await deps.writes.replace({ ...write, content: body, expected });
    if (result === null) {
      const { keyVersion } = await requireVault(deps.database.pool, caller, vaultId, "write");
      requireKeyVersion(body.key_version, keyVersion);
    }
    return result;
  }, busy);
  if (written === "other") throw await notAsExpected(deps.database.pool, { vaultId, id, expected });
  const { created_at, updated_at } = written;
  return { id, vault_id: vaultId, type: body.type, encrypted_data: body.encrypted_data, created_at, updated_at };
}
