import type { Call } from "@coffer/http";
import { observers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type ApplicationRow, listApplications } from "../store/applications.ts";

/** GET /api/org/applications */
export async function listOrgApplications(
  deps: Deps,
  { caller }: Call<User>,
): Promise<{ data: readonly ApplicationRow[] }> {
  const { orgId } = await requireMembership(deps.database.pool, caller, observers);
  return { data: await listApplications(deps.database.pool, orgId) };
}
