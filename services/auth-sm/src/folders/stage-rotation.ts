import type { Call } from "@coffer/http";
import { requireLockedFolder } from "../access/folder.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { listSealedSecrets } from "../store/folders/folder-rotation.ts";
import { countStaged, dropOtherStaged, stageSecrets } from "../store/secrets/staged-secrets.ts";
import type { RotationPath, StagedSecrets } from "./rotation-body.ts";
import { requireUnchanged } from "./rotation-fits.ts";

export interface StagedView {
  rotation_id: string;
  staged: number;
}

/**
 * PUT /api/org/folders/{id}/rotation/{rotation_id}
 * Stages secrets for a rotation that names this `rotation_id`. Staged secrets are dropped after an
 * hour. A person has one rotation of a folder at a time: another `rotation_id` drops the secrets of
 * the previous one.
 */
export function stageRotation(
  deps: Deps,
  { caller, params, body: { secrets } }: Call<User, RotationPath, StagedSecrets>,
): Promise<StagedView> {
  return transactionInSession(deps, caller, async (tx) => {
    const { folderId } = await requireLockedFolder(tx, caller, params.id, { needed: "manage", lock: "key" });
    // Only existing secrets can be staged, which bounds the staged storage.
    const uids = secrets.map(({ uid }) => uid);
    requireUnchanged(await listSealedSecrets(tx, folderId, uids), secrets);
    const staging = { folderId, userId: caller.userId, rotationId: params.rotation_id };
    await dropOtherStaged(tx, staging);
    await stageSecrets(tx, staging, secrets, deps.now());
    return { rotation_id: params.rotation_id, staged: await countStaged(tx, staging) };
  });
}
