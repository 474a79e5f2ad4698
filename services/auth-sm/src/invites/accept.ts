import { ServiceError } from "@coffer/errors";
import { travelModeOf } from "@coffer/events";
import { auditOf, type Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { userActor } from "@coffer/service";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireProof } from "../accounts/require-proof.ts";
import { chainsOf } from "../accounts/user-events.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { getOrg, type OrgRow } from "../store/organizations/orgs.ts";
import { getUser } from "../store/accounts/users.ts";
import type { Acceptance } from "./bodies.ts";
import { claimInvite } from "./claim.ts";
import { joinOrg } from "./join.ts";
import { signJoin } from "./sign-join.ts";

type AcceptCall = Call<User, unknown, Acceptance>;

/**
 * POST /api/org/invites/accept
 * Of two concurrent calls one joins. An organization with a history needs a signed entry. While the
 * caller travels, the call needs the proof that ends travel mode, and is audited in the chain of
 * each of the caller's organizations.
 * @throws ServiceError `reauth_required` while travelling without a valid proof; `unavailable`
 * while vaults does not answer
 */
export async function acceptInvite(deps: Deps, call: AcceptCall): Promise<OrgRow> {
  const { caller } = call;
  const { enabled: travelling } = await deps.bus.request(travelModeOf, { user_id: caller.userId });
  if (travelling) return acceptTravelling(deps, call);
  const joined = await transactionInSession(deps, caller, (tx) => join(tx, deps, call, []));
  if (joined instanceof ServiceError) throw joined;
  return joined;
}

async function acceptTravelling(deps: Deps, call: AcceptCall): Promise<OrgRow> {
  const chains = await chainsOf(deps.database.pool, call.caller.userId);
  try {
    return await requireProof(deps, call, (tx) => join(tx, deps, call, chains));
  } catch (error) {
    if (error instanceof ServiceError && error.code === "reauth_required") await recordDenial(deps, call, chains);
    throw error;
  }
}

/** @param chains further audit chains besides that of the inviting organization */
async function join(
  tx: Transaction,
  deps: Deps,
  { caller, body, request }: AcceptCall,
  chains: readonly (string | null)[],
): Promise<OrgRow | ServiceError> {
  const actor = userActor(caller);
  const { userId } = caller;
  const user = await getUser(tx, userId);
  const invite = await claimInvite(tx, deps, { token: body.token, email: user.email, actor, request });
  if (invite instanceof ServiceError) return invite;
  await joinOrg(tx, deps, { invite, userId, actor, request, status: 200, chains });
  await signJoin(tx, deps, { invite, user, body, actor, request });
  return getOrg(tx, invite.org_id, deps.config.COFFER_BILLING);
}

/**
 * Names no invitation: the caller's other organizations must not learn which organization invited.
 */
async function recordDenial(
  deps: Deps,
  { caller, request }: AcceptCall,
  chains: readonly (string | null)[],
): Promise<void> {
  const entry = {
    action: "org.member.accepted",
    actor: userActor(caller),
    target: { type: "user", id: caller.userId },
    outcome: "denied",
    reason: "reauth_required",
    status: 403,
  } as const;
  await Promise.all(chains.map((org_id) => deps.audit(auditOf(deps, request, { org_id, ...entry }))));
}
