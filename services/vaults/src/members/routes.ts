import { route } from "@coffer/http";
import { type Attempt, attempting, authenticateUser } from "@coffer/service";
import { vaultPath } from "../vaults/bodies.ts";
import { vaultMember, vaultMemberListQuery, vaultMemberPath } from "./bodies.ts";
import { listVaultMembers } from "./list.ts";
import { shareVault } from "./share.ts";
import { unshareVault } from "./unshare.ts";

const base = "/api/vaults/:id/members";
const user = { bucket: "user", caller: authenticateUser } as const;
const vault: Attempt["target"] = ({ id = null }) => ({ type: "vault", id });
const member: Attempt["target"] = ({ id = "", user_id = null }) => ({ type: "user", id: user_id, parent_id: id });

export const memberRoutes = [
  attempting(
    "vault.listed",
    vault,
    route({
      ...user,
      method: "GET",
      path: base,
      params: vaultPath,
      query: vaultMemberListQuery,
      status: 200,
      run: listVaultMembers,
    }),
  ),
  attempting(
    "vault.member.added",
    member,
    route({
      ...user,
      method: "PUT",
      path: `${base}/:user_id`,
      params: vaultMemberPath,
      body: vaultMember,
      status: 200,
      run: shareVault,
    }),
  ),
  attempting(
    "vault.member.removed",
    member,
    route({
      ...user,
      method: "DELETE",
      path: `${base}/:user_id`,
      params: vaultMemberPath,
      status: 204,
      run: unshareVault,
    }),
  ),
];
