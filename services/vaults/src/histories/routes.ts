import { route } from "@coffer/http";
import { type Attempt, attempting, authenticateUser, historyQuery, newEntry } from "@coffer/service";
import { vaultPath } from "../vaults/bodies.ts";
import { adoptVault } from "./adopt.ts";
import { readVaultHistory } from "./read.ts";

const path = "/api/vaults/:id/history";
const user = { bucket: "user", caller: authenticateUser } as const;
const vault: Attempt["target"] = ({ id = null }) => ({ type: "vault", id });

export const historyRoutes = [
  attempting(
    "vault.listed",
    vault,
    route({ ...user, method: "GET", path, params: vaultPath, query: historyQuery, status: 200, run: readVaultHistory }),
  ),
  attempting(
    "history.adopted",
    vault,
    route({ ...user, method: "POST", path, params: vaultPath, body: newEntry, status: 201, run: adoptVault }),
  ),
];
