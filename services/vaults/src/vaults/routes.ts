import { route } from "@coffer/http";
import { type Attempt, attempting, authenticateUser } from "@coffer/service";
import { newVault, vaultListQuery, vaultPath, vaultUpdate } from "./bodies.ts";
import { createVault } from "./create.ts";
import { listOwnVaults } from "./list.ts";
import { removeVault } from "./remove.ts";
import { showVault } from "./show.ts";
import { updateVault } from "./update.ts";

const base = "/api/vaults";
const user = { bucket: "user", caller: authenticateUser } as const;
const vault: Attempt["target"] = ({ id = null }) => ({ type: "vault", id });

export const vaultRoutes = [
  route({ ...user, method: "GET", path: base, query: vaultListQuery, status: 200, run: listOwnVaults }),
  attempting(
    "vault.created",
    vault,
    route({ ...user, method: "POST", path: base, body: newVault, status: 201, run: createVault }),
  ),
  attempting(
    "vault.listed",
    vault,
    route({ ...user, method: "GET", path: `${base}/:id`, params: vaultPath, status: 200, run: showVault }),
  ),
  attempting(
    "vault.updated",
    vault,
    route({
      ...user,
      method: "PATCH",
      path: `${base}/:id`,
      params: vaultPath,
      body: vaultUpdate,
      status: 200,
      run: updateVault,
    }),
  ),
  attempting(
    "vault.deleted",
    vault,
    route({ ...user, method: "DELETE", path: `${base}/:id`, params: vaultPath, status: 204, run: removeVault }),
  ),
];
