import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { everyone, managers, requireMembership } from "../access/membership.ts";
import { requireUserGrant } from "../access/user-grant.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type HistoryPage, listEntries } from "../store/histories.ts";
import type { HistoryQuery } from "@coffer/service";
import type { HistoryFolderPath } from "./bodies.ts";
import { folderRes } from "./resources.ts";

/** GET /api/org/folders/{id}/history: For people with a grant, owners and admins. */
export async function readFolderHistory(
  deps: Deps,
  { caller, params, query }: Call<User, HistoryFolderPath, undefined, HistoryQuery>,
): Promise<HistoryPage> {
  const { pool } = deps.database;
  const { orgId, role } = await requireMembership(pool, caller, everyone);
  const { permission } = await requireUserGrant(pool, caller, { orgId, folderId: params.id });
  if (!managers.includes(role) && (role === "auditor" || permission === null)) {
    throw new ServiceError("access_denied", "you have no permission on this folder");
  }
  return listEntries(pool, folderRes(params.id), query.after);
}
