import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireLockedRemovable, requireRemovable } from "../access/removable.ts";
import type { Deps } from "../deps.ts";
import { recomputeVisibility } from "../visibility/recompute.ts";
import { limitStatements } from "../store/statement-limit.ts";
import { countRecords, deleteVault } from "../store/vaults/vault-removal.ts";
import type { VaultPath } from "./bodies.ts";
import { inOrg } from "./in-org.ts";

const countingMilliseconds = 2_000;
/** One count at a time: several could use up the connections of a replica. */
const counting = new WeakSet<Deps["database"]>();

/**
 * DELETE /api/vaults/{id}: hides the records at once; a sweep deletes them after the commit
 * (docs/adr/0014).
 */
export async function removeVault(deps: Deps, { caller, params, audit }: AuditedCall<User, VaultPath>): Promise<void> {
  const removable = await requireRemovable(deps.database.pool, caller, params.id);
  const count = await countInTime(deps, removable.id);
  await transactionInSession(deps, caller, async (tx) => {
    const { id, orgId, actor } = await requireLockedRemovable(tx, caller, removable.id);
    await deleteVault(tx, id, deps.now());
    await recomputeVisibility(tx, deps, { vaultIds: [id] });
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        target: inOrg(orgId),
        ...(count === null ? {} : { count }),
      }),
    );
  });
  deps.emptying.nudge();
}

/**
 * The record count for the audit, taken before the lock, so that writers do not wait for it. Null
 * if the count takes too long, or another count is running: neither may block a deletion.
 */
async function countInTime({ database }: Pick<Deps, "database">, id: string): Promise<number | null> {
  if (counting.has(database)) return null;
  counting.add(database);
  try {
    return await database.transaction(async (tx) => {
      await limitStatements(tx, countingMilliseconds);
      return countRecords(tx, id);
    });
  } catch (error) {
    if (error instanceof ServiceError && error.code === "unavailable") return null;
    throw error;
  } finally {
    counting.delete(database);
  }
}
