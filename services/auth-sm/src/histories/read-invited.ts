import { ServiceError } from "@coffer/errors";
import { auditOf, type Call } from "@coffer/http";
import { userActor } from "@coffer/service";
import { ownInvite, requireInvite } from "../access/invite.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { deniedInvite } from "../invites/claim.ts";
import { hashInviteToken } from "../invites/token.ts";
import { type HistoryPage, listEntries } from "../store/histories.ts";
import { findInviteByToken } from "../store/organizations/invites.ts";
import { getUser } from "../store/accounts/users.ts";
import type { InvitedHistory } from "./bodies.ts";
import { orgRes } from "./resources.ts";

/**
 * POST /api/org/invites/history
 * The organization's history for an invited person, who verifies it before joining. A POST keeps
 * the token out of URLs.
 */
export async function readInvitedHistory(
  deps: Deps,
  { caller, body, request }: Call<User, unknown, InvitedHistory>,
): Promise<HistoryPage> {
  const { pool } = deps.database;
  const invite = requireInvite(deps, await findInviteByToken(pool, hashInviteToken(body.token), deps.now()));
  const { email } = await getUser(pool, caller.userId);
  const own = ownInvite(invite, email);
  if (own instanceof ServiceError) {
    await deps.audit(auditOf(deps, request, deniedInvite(invite, userActor(caller))));
    throw own;
  }
  return listEntries(pool, orgRes(own.org_id), body.after);
}
