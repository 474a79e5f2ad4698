import type { Call } from "@coffer/http";
import type { User } from "@coffer/service";
import { asJudged } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { recordAudit } from "./audit.ts";
import type { RecordPath } from "./bodies.ts";
import { busy } from "./busy.ts";
import { expectedMoment, notAsExpected } from "./expected.ts";

/** DELETE /api/vaults/{id}/records/{rid}: as it is, unless `If-Match` says which write of it is to go. */
export async function removeRecord(deps: Deps, call: Call<User, RecordPath>): Promise<void> {
  const { caller, params } = call;
  const { id: vaultId, rid: id } = params;
  const expected = expectedMoment(call.expected);
  const gone = await asJudged(async () => {
    // Each time: the write before may have waited.
    deps.users.requireLasting(caller);
    const audit = recordAudit(deps, call, { org_id: null, action: "record.deleted", vaultId, id, status: 204 });
    const to = { userId: caller.userId, vaultId, id, eventId: deps.newId(), audit, now: deps.now() };
    const result = await deps.writes.remove({ ...to, expected });
    if (result === null) await requireVault(deps.database.pool, caller, vaultId, "write");
    return result;
  }, busy);
  if (gone === "other") throw await notAsExpected(deps.database.pool, { vaultId, id, expected });
}
