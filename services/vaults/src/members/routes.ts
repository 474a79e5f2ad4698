import { route, type RouteAudit } from "@coffer/http";
import { authenticateUser } from "@coffer/service";
import { vaultPath } from "../vaults/bodies.ts";
import { vaultMember, vaultMemberListQuery, vaultMemberPath } from "./bodies.ts";
import { listVaultMembers } from "./list.ts";
import { shareVault } from "./share.ts";
import { unshareVault } from "./unshare.ts";

const base = "/api/vaults/:id/members";
const user = { bucket: "user", caller: authenticateUser } as const;
const vault: RouteAudit["target"] = ({ id = null }) => ({ type: "vault", id });
const member: RouteAudit["target"] = ({ id = "", user_id = null }) => ({ type: "user", id: user_id, parent_id: id });

export const memberRoutes = [
  route({
    ...user,
    method: "GET",
    path: base,
    params: vaultPath,
    query: vaultMemberListQuery,
    status: 200,
    audit: { action: "vault.listed", target: vault },
    run: listVaultMembers,
  }),
  route({
    ...user,
    method: "PUT",
    path: `${base}/:user_id`,
    params: vaultMemberPath,
    body: vaultMember,
    status: 200,
    audit: { action: "vault.member.added", target: member },
    run: shareVault,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:user_id`,
    params: vaultMemberPath,
    status: 204,
    audit: { action: "vault.member.removed", target: member },
    run: unshareVault,
  }),
];
