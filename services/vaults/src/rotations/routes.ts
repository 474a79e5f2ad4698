import { route, type RouteAudit } from "@coffer/http";
import { authenticateUser, type User } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { type VaultPath, vaultPath } from "../vaults/bodies.ts";
import { rotation, rotationLimitBytes, rotationPath, stagedRecords } from "./bodies.ts";
import { rotateVault } from "./rotate.ts";
import { stageRotation } from "./stage.ts";

const user = { bucket: "user", caller: authenticateUser } as const;
const permit = (deps: Deps, { caller, params }: { caller: User; params: VaultPath }) =>
  requireVault(deps.database.pool, caller, params.id, "manage");
const vault: RouteAudit["target"] = ({ id = null }) => ({ type: "vault", id });

export const rotationRoutes = [
  route({
    ...user,
    method: "POST",
    path: "/api/vaults/:id/rotate",
    params: vaultPath,
    body: rotation,
    bodyLimitBytes: rotationLimitBytes,
    permit,
    status: 200,
    audit: { action: "vault.key.rotated", target: vault },
    run: rotateVault,
  }),
  route({
    ...user,
    method: "PUT",
    path: "/api/vaults/:id/rotation/:rotation_id",
    params: rotationPath,
    body: stagedRecords,
    bodyLimitBytes: rotationLimitBytes,
    permit,
    status: 200,
    audit: { action: "vault.key.rotated", target: vault },
    run: stageRotation,
  }),
];
