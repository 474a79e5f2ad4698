import type { Call } from "@coffer/http";
import { observers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type InviteRow, listInvites } from "../store/organizations/invites.ts";

/** GET /api/org/invites: those that can still be accepted. */
export async function listOpenInvites(deps: Deps, { caller }: Call<User>): Promise<{ data: readonly InviteRow[] }> {
  const { orgId } = await requireMembership(deps.database.pool, caller, observers);
  return { data: await listInvites(deps.database.pool, orgId, deps.now()) };
}
