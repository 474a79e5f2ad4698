import type { Call } from "@coffer/http";
import { everyone, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { getOrg, type OrgRow } from "../store/organizations/orgs.ts";

/** GET /api/org */
export async function showOrg(deps: Deps, { caller }: Call<User>): Promise<OrgRow> {
  const { orgId } = await requireMembership(deps.database.pool, caller, everyone);
  return getOrg(deps.database.pool, orgId, deps.config.COFFER_BILLING);
}
