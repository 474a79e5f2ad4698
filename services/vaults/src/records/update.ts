import type { Call } from "@coffer/http";
import type { User } from "@coffer/service";
import { asJudged } from "@coffer/service";
import { requireKeyVersion } from "../access/key-version.ts";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { recordAudit } from "./audit.ts";
import type { RecordContent, RecordPath } from "./bodies.ts";
import { busy } from "./busy.ts";
import { expectedMoment, notAsExpected } from "./expected.ts";
import type { RecordView } from "./view.ts";

/** PUT /api/vaults/{id}/records/{rid}: the last write wins, unless `If-Match` says which one it is to replace. */
export async function updateRecord(deps: Deps, call: Call<User, RecordPath, RecordContent>): Promise<RecordView> {
  const { caller, params, body } = call;
  const { id: vaultId, rid: id } = params;
  const expected = expectedMoment(call.expected);
  const written = await asJudged(async () => {
    // Each time: the write before may have waited.
    deps.users.requireLasting(caller);
    const { userId } = caller;
    const entry = { org_id: null, action: "record.updated", vaultId, id, status: 200 } as const;
    const audit = recordAudit(deps, call, { ...entry, changes: { type: body.type } });
    const to = { userId, vaultId, id, eventId: deps.newId(), audit, now: deps.now() };
    const result = await deps.writes.replace({ ...to, content: body, expected });
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
