import type { Call } from "@coffer/http";
import { everyone, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type HistoryPage, listEntries } from "../store/histories.ts";
import type { HistoryQuery } from "@coffer/service";
import { orgRes } from "./resources.ts";

/** GET /api/org/history: For every active member. */
export async function readOrgHistory(
  deps: Deps,
  { caller, query }: Call<User, unknown, undefined, HistoryQuery>,
): Promise<HistoryPage> {
  const { pool } = deps.database;
  const { orgId } = await requireMembership(pool, caller, everyone);
  return listEntries(pool, orgRes(orgId), query.after);
}
