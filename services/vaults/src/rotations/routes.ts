import { route } from "@coffer/http";
import type { Attempt, User } from "@coffer/service";
import { attempting, authenticateUser } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import { vaultPath } from "../vaults/bodies.ts";
import { rotation, rotationLimitBytes, rotationPath, stagedRecords } from "./bodies.ts";
import { rotateVault } from "./rotate.ts";
import { stageRotation } from "./stage.ts";

const user = { bucket: "user", caller: authenticateUser } as const;
/** Asked before the body is read. */
const permit = (deps: Deps, { caller, params }: { caller: User; params: VaultPath }) =>
  requireVault(deps.database.pool, caller, params.id, "manage");
const vault: Attempt["target"] = ({ id = null }) => ({ type: "vault", id });

/** The next key of a vault. */
export const rotationRoutes = [
  attempting(
    "vault.key.rotated",
    vault,
    route({
      ...user,
      method: "POST",
      path: "/api/vaults/:id/rotate",
      params: vaultPath,
      body: rotation,
      bodyLimitBytes: rotationLimitBytes,
      permit,
      status: 200,
      run: rotateVault,
    }),
  ),
  attempting(
    "vault.key.rotated",
    vault,
    route({
      ...user,
      method: "PUT",
      path: "/api/vaults/:id/rotation/:rotation_id",
      params: rotationPath,
      body: stagedRecords,
      bodyLimitBytes: rotationLimitBytes,
      permit,
      status: 200,
      run: stageRotation,
    }),
  ),
];
