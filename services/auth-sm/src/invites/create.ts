import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireMembersLocked, requireRankOver } from "../access/members.ts";
import { managers } from "../access/membership.ts";
import { auditOf } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { InviteRow } from "../store/invites.ts";
import { countInvites, deleteExpiredInvites, deleteInvite, findInviteTo, insertInvite } from "../store/invites.ts";
import type { Role } from "../store/memberships.ts";
import { isMemberEmail } from "../store/members.ts";
import type { NewInvite } from "./bodies.ts";
import { hashInviteToken, newInviteToken } from "./token.ts";

const lifeMilliseconds = 7 * 24 * 60 * 60 * 1000;
/** How many invitations of an organization may be open. */
const mostOpen = 1000;

/** A new invitation; its token is told this once. */
export interface IssuedInvite extends InviteRow {
  token: string;
}

/**
 * POST /api/org/invites
 * Whether anybody has an account with this e-mail makes no difference. An open invitation to it is replaced.
 */
export async function inviteMember(
  deps: Deps,
  { caller, body, request }: Call<User, unknown, NewInvite>,
): Promise<IssuedInvite> {
  const token = newInviteToken(deps.randomBytes);
  const now = deps.now();
  const invite = await transactionInSession(deps, caller, async (tx) => {
    const { orgId, role, actor } = await requireMembersLocked(tx, caller, managers);
    requireRankOver(role, body.role);
    if (await isMemberEmail(tx, orgId, body.email)) {
      throw new ServiceError("conflict", "a member of this organization has this e-mail");
    }
    await deleteExpiredInvites(tx, orgId, now);
    await makeRoom(tx, { orgId, role, email: body.email });
    const inserted = await insertInvite(tx, {
      id: deps.newId(),
      orgId,
      email: body.email,
      role: body.role,
      tokenHash: hashInviteToken(token),
      invitedBy: caller.userId,
      now,
      expiresAt: new Date(now.getTime() + lifeMilliseconds),
    });
    await enqueueAudit(
      tx,
      auditOf(deps, request, {
        org_id: orgId,
        action: "org.member.invited",
        actor,
        target: { type: "invite", id: inserted.id, parent_id: orgId },
        status: 201,
        changes: { email: inserted.email, role: inserted.role, expires_at: inserted.expires_at },
      }),
    );
    return inserted;
  });
  return { ...invite, token };
}

/** Takes the open invitation to this e-mail away, or else makes sure that one more is not too many. */
async function makeRoom(
  tx: Transaction,
  { orgId, role, email }: { orgId: string; role: Role; email: string },
): Promise<void> {
  const replaced = await findInviteTo(tx, orgId, email);
  if (replaced !== null) {
    requireRankOver(role, replaced.role);
    await deleteInvite(tx, replaced.id);
  } else if ((await countInvites(tx, orgId)) >= mostOpen) {
    throw new ServiceError("conflict", `${mostOpen} invitations are open: withdraw some, or wait until they expire`);
  }
}
