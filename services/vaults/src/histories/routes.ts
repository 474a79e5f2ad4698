import { route, type RouteAudit } from "@coffer/http";
import { authenticateUser, historyQuery, newEntry } from "@coffer/service";
import { vaultPath } from "../vaults/bodies.ts";
import { adoptVault } from "./adopt.ts";
import { readVaultHistory } from "./read.ts";

const path = "/api/vaults/:id/history";
const user = { bucket: "user", caller: authenticateUser } as const;
const vault: RouteAudit["target"] = ({ id = null }) => ({ type: "vault", id });

export const historyRoutes = [
  route({
    ...user,
    method: "GET",
    path,
    params: vaultPath,
    query: historyQuery,
    status: 200,
    audit: { action: "vault.listed", target: vault },
    run: readVaultHistory,
  }),
  route({
    ...user,
    method: "POST",
    path,
    params: vaultPath,
    body: newEntry,
    status: 201,
    audit: { action: "history.adopted", target: vault },
    run: adoptVault,
  }),
];
