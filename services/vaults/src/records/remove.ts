import type { Call } from "@coffer/http";
import { retryOnConflict, type User } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { recordAudit } from "./audit.ts";
import type { RecordPath } from "./bodies.ts";
import { busy } from "../errors.ts";
import { expectedMoment, notAsExpected } from "./expected.ts";

/** DELETE /api/vaults/{id}/records/{rid}: any version, unless `If-Match` names one. */
export async function removeRecord(deps: Deps, call: Call<User, RecordPath>): Promise<void> {
  const { caller, params } = call;
  const { id: vaultId, rid: id } = params;
  const expected = expectedMoment(call.expected);
  const removed = await retryOnConflict(async () => {
    // In each attempt: the one before may have waited for a lock.
    const { userId } = deps.users.requireActiveSession(caller);
    const audit = recordAudit(deps, call, { org_id: null, action: "record.deleted", vaultId, id, status: 204 });
    const write = { userId, vaultId, id, eventId: deps.newId(), audit, now: deps.now() };
    const result = await deps.writes.remove({ ...write, expected });
    if (result === null) await requireVault(deps.database.pool, caller, vaultId, "write");
    return result;
  }, busy);
  if (removed === "other") throw await notAsExpected(deps.database.pool, { vaultId, id, expected });
}
