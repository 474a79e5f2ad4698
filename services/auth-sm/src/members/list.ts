import type { Call } from "@coffer/http";
import { everyone, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { listMembers, type MemberRow } from "../store/organizations/members.ts";

/** GET /api/org/members */
export async function listOrgMembers(deps: Deps, { caller }: Call<User>): Promise<{ data: readonly MemberRow[] }> {
  const { orgId } = await requireMembership(deps.database.pool, caller, everyone);
  return { data: await listMembers(deps.database.pool, orgId) };
}
