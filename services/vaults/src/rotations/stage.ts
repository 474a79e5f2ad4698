import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireHeldVault, requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { countStaged, countUnchanged, dropOtherStaged, stageRecords } from "../store/vaults/vault-rotation.ts";
import type { RotationPath, StagedRecords } from "./bodies.ts";

export interface StagedView {
  rotation_id: string;
  staged: number;
}

/**
 * PUT /api/vaults/{id}/rotation/{rotation_id}: stages records for a rotation of more records than
 * fit one request. Staged records are dropped after an hour. A person has one rotation of a vault
 * at a time: another `rotation_id` drops the records of the previous one.
 */
export async function stageRotation(
  deps: Deps,
  { caller, params, body }: Call<User, RotationPath, StagedRecords>,
): Promise<StagedView> {
  const { rotation_id: rotationId } = params;
  const { id } = await requireVault(deps.database.pool, caller, params.id, "manage");
  return transactionInSession(deps, caller, async (tx) => {
    const { id: vaultId } = await requireHeldVault(tx, caller, id, "manage");
    // Only existing records can be staged, which bounds the staged storage.
    if ((await countUnchanged(tx, vaultId, body.records)) !== body.records.length)
      throw new ServiceError(
        "conflict",
        "some of these records do not exist or have changed: read them and seal again",
      );
    const rotation = { vaultId, rotationId, userId: caller.userId };
    await dropOtherStaged(tx, rotation);
    await stageRecords(tx, { ...rotation, now: deps.now() }, body.records);
    return { rotation_id: rotationId, staged: await countStaged(tx, rotation) };
  });
}
