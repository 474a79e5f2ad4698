import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { retryOnConflict, type User } from "@coffer/service";
import { requireKeyVersion } from "../vaults/key-version.ts";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { busy, idTaken } from "../errors.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import { recordAudit } from "./audit.ts";
import type { NewRecord } from "./bodies.ts";
import type { RecordView } from "./view.ts";

/** POST /api/vaults/{id}/records */
export async function createRecord(deps: Deps, call: Call<User, VaultPath, NewRecord>): Promise<RecordView> {
  const { caller, params, body } = call;
  const vaultId = params.id;
  const id = body.id ?? deps.newId();
  const written = await retryOnConflict(async () => {
    // In each attempt: the one before may have waited for a lock.
    const { userId } = deps.users.requireActiveSession(caller);
    const entry = { org_id: null, action: "record.created", vaultId, id, status: 201 } as const;
    const audit = recordAudit(deps, call, { ...entry, changes: { type: body.type } });
    const write = { userId, vaultId, id, eventId: deps.newId(), audit, now: deps.now() };
    const result = await deps.writes.insert({ ...write, content: body });
    if (result === null) {
      const { keyVersion } = await requireVault(deps.database.pool, caller, vaultId, "write");
      requireKeyVersion(body.key_version, keyVersion);
    }
    return result;
  }, busy);
  if (written === "taken") throw new ServiceError("conflict", idTaken("record"));
  const { created_at, updated_at } = written;
  return { id, vault_id: vaultId, type: body.type, encrypted_data: body.encrypted_data, created_at, updated_at };
}
