import { newIdIn, route, type RouteAudit } from "@coffer/http";
import { authenticateUser } from "@coffer/service";
import { newVault, vaultListQuery, vaultPath, vaultUpdate } from "./bodies.ts";
import { createVault } from "./create.ts";
import { listOwnVaults } from "./list.ts";
import { removeVault } from "./remove.ts";
import { showVault } from "./show.ts";
import { updateVault } from "./update.ts";

const base = "/api/vaults";
const user = { bucket: "user", caller: authenticateUser } as const;
const vault: RouteAudit["target"] = ({ id }, { body }) => ({ type: "vault", id: id ?? newIdIn(body, "id") });

export const vaultRoutes = [
  route({ ...user, method: "GET", path: base, query: vaultListQuery, status: 200, run: listOwnVaults }),
  route({
    ...user,
    method: "POST",
    path: base,
    body: newVault,
    status: 201,
    audit: { action: "vault.created", target: vault },
    run: createVault,
  }),
  route({
    ...user,
    method: "GET",
    path: `${base}/:id`,
    params: vaultPath,
    status: 200,
    audit: { action: "vault.listed", target: vault },
    run: showVault,
  }),
  route({
    ...user,
    method: "PATCH",
    path: `${base}/:id`,
    params: vaultPath,
    body: vaultUpdate,
    status: 200,
    audit: { action: "vault.updated", target: vault },
    run: updateVault,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:id`,
    params: vaultPath,
    status: 204,
    audit: { action: "vault.deleted", target: vault },
    run: removeVault,
  }),
];
