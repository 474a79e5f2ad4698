import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { transactionInSession } from "../access/lasting-session.ts";
import { userActor } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { OrgRow } from "../store/orgs.ts";
import { getOrg } from "../store/orgs.ts";
import { getUser } from "../store/users.ts";
import type { Acceptance } from "./bodies.ts";
import { claimInvite } from "./claim.ts";
import { joinOrg } from "./join.ts";

/** POST /api/org/invites/accept: of two at once, one joins. */
export async function acceptInvite(
  deps: Deps,
  { caller, body, request }: Call<User, unknown, Acceptance>,
): Promise<OrgRow> {
  const actor = userActor(caller);
  const { userId } = caller;
  const joined = await transactionInSession(deps, caller, async (tx) => {
    const { email } = await getUser(tx, userId);
    const invite = await claimInvite(tx, deps, { token: body.token, email, actor, request });
    if (invite instanceof ServiceError) return invite;
    await joinOrg(tx, deps, { invite, userId, actor, request, status: 200 });
    return getOrg(tx, invite.org_id);
  });
  if (joined instanceof ServiceError) throw joined;
  return joined;
}
