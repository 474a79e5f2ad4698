import { type AuditedCall, type NotModified, notModified, tagged, type Tagged } from "@coffer/http";
import { retryOnConflict, type User, userActor } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import type { RecordPath } from "./bodies.ts";
import { busy, recordNotFound } from "../errors.ts";
import { recordView } from "./view.ts";

/** GET /api/vaults/{id}/records/{rid} */
export async function readRecord(deps: Deps, call: AuditedCall<User, RecordPath>): Promise<Tagged | NotModified> {
  const { caller, params, held } = call;
  const { id: vaultId, rid: id } = params;
  const row = await retryOnConflict(async () => {
    const found = await deps.reads.record(caller.userId, vaultId, id);
    if (found === null) await requireVault(deps.database.pool, caller, vaultId, "read");
    return found;
  }, busy);
  if (row.id === null) throw recordNotFound();
  const tag = row.updated_at;
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(call.audit({ orgId: row.org_id, actor: userActor(caller) }));
  return tagged(tag, recordView(row));
}
