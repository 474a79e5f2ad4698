import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireMemberLocked, requireMembersLocked, requireRankOver } from "../access/members.ts";
import { managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type Revocation, type RevocationCause, revokeSession, revokeSessions } from "../sessions/revoke.ts";
import { lockSessions } from "../store/accounts/sessions.ts";
import type { MemberPath, MemberSessionPath } from "./bodies.ts";

/** DELETE /api/org/members/{user_id}/sessions */
export async function revokeMemberSessions(deps: Deps, call: Call<User, MemberPath>): Promise<void> {
  const revocations = await transactionInSession(deps, call.caller, async (tx) => {
    const { userId, cause } = await requireMemberBelow(tx, call);
    return revokeSessions(tx, deps, { userId, ...cause });
  });
  await deps.announcer.announce(revocations);
}

/** DELETE /api/org/members/{user_id}/sessions/{sid} */
export async function revokeMemberSession(deps: Deps, call: Call<User, MemberSessionPath>): Promise<void> {
  const { sid } = call.params;
  const revocation = await transactionInSession(deps, call.caller, async (tx): Promise<Revocation | null> => {
    const { userId, cause } = await requireMemberBelow(tx, call);
    const lasting = await lockSessions(tx, userId, deps.now());
    if (!lasting.includes(sid)) throw new ServiceError("not_found", "session not found");
    return revokeSession(tx, deps, { session: { id: sid, userId }, ...cause });
  });
  if (revocation !== null) await deps.announcer.announce([revocation]);
}

/** A member whose sessions the caller may end. Only an owner may end an owner's. */
async function requireMemberBelow(
  tx: Transaction,
  { caller, params, request }: Call<User, MemberPath>,
): Promise<{ userId: string; cause: RevocationCause }> {
  const { orgId, role, actor } = await requireMembersLocked(tx, caller, managers);
  const member = requireRankOver(role, await requireMemberLocked(tx, orgId, params.user_id));
  return { userId: member.user_id, cause: { reason: "admin_revoked", actor, request, status: 204, orgId } };
}
