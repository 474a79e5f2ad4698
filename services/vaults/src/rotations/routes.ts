import { route } from "@coffer/http";
import type { Attempt } from "@coffer/service";
import { attempting, authenticateUser } from "@coffer/service";
import { vaultPath } from "../vaults/bodies.ts";
import { rotation, rotationLimitBytes, rotationPath, stagedRecords } from "./bodies.ts";
import { rotateVault } from "./rotate.ts";
import { stageRotation } from "./stage.ts";

const user = { bucket: "user", caller: authenticateUser } as const;
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
      status: 200,
      run: stageRotation,
    }),
  ),
];
