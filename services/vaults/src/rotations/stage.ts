import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireHeldVault, requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { countStaged, countUnchanged, dropOtherStaged, stageRecords } from "../store/vault-rotation.ts";
import type { RotationPath, StagedRecords } from "./bodies.ts";

/** What is staged for a rotation now. */
export interface StagedView {
  rotation_id: string;
  staged: number;
}

/**
 * PUT /api/vaults/{id}/rotation/{rotation_id}: records that are sealed with the next key, for a rotation of more records
 * than one body takes. Nobody reads them before the rotation, and they are dropped after an hour. A person has one rotation
 * of a vault under way: another `rotation_id` drops what was staged under the one before.
 */
export async function stageRotation(
  deps: Deps,
  { caller, params, body }: Call<User, RotationPath, StagedRecords>,
): Promise<StagedView> {
  const { id: vaultId, rotation_id: rotationId } = params;
  await requireVault(deps.database.pool, caller, vaultId, "manage");
  return transactionInSession(deps, caller, async (tx) => {
    await requireHeldVault(tx, caller, vaultId, "manage");
    // Only what there is can be staged, so that nobody stores more here than the vault holds.
    if ((await countUnchanged(tx, vaultId, body.records)) !== body.records.length)
      throw new ServiceError(
        "conflict",
        "some of these records are not there, or have changed: read them and seal again",
      );
    const { userId } = caller;
    await dropOtherStaged(tx, { vaultId, rotationId, userId });
    await stageRecords(tx, { vaultId, rotationId, userId, now: deps.now() }, body.records);
    return { rotation_id: rotationId, staged: await countStaged(tx, vaultId, rotationId) };
  });
}
