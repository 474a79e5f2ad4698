import type { Role } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireMembersLocked, requireRankOver } from "../access/members.ts";
import { managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { orConflict } from "../conflict.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { orgRes, permissionOf } from "../histories/resources.ts";
import {
  countInvites,
  deleteExpiredInvites,
  deleteInvite,
  findInviteTo,
  insertInvite,
  type InviteRow,
} from "../store/organizations/invites.ts";
import { isMemberEmail } from "../store/organizations/members.ts";
import type { NewInvite } from "./bodies.ts";
import { hashInviteToken, newInviteToken } from "./token.ts";

const lifeMilliseconds = 7 * 24 * 60 * 60 * 1000;
/** The open invitations that an organization may have. */
const mostOpen = 1000;

/** `token` is set only when this service made it, and is returned only once. */
export interface IssuedInvite extends InviteRow {
  token?: string;
}

/**
 * POST /api/org/invites
 * Replaces an open invitation to the same e-mail. The answer does not depend on whether the e-mail
 * has an account.
 */
export async function inviteMember(
  deps: Deps,
  { caller, body, audit }: AuditedCall<User, unknown, NewInvite>,
): Promise<IssuedInvite> {
  const token = body.token_hash === undefined ? newInviteToken(deps.randomBytes) : undefined;
  const tokenHash = token === undefined ? Buffer.from(body.token_hash ?? "", "hex") : hashInviteToken(token);
  const now = deps.now();
  const invite = await transactionInSession(deps, caller, async (tx) => {
    const { orgId, role, actor } = await requireMembersLocked(tx, caller, managers);
    const offer = requireRankOver(role, { role: body.role });
    if (await isMemberEmail(tx, orgId, body.email)) {
      throw new ServiceError("conflict", "a member of this organization has this e-mail");
    }
    await deleteExpiredInvites(tx, orgId, now);
    await replaceOpenInvite(tx, { orgId, role, email: body.email });
    await openInvitation(tx, { orgId, userId: caller.userId, body });
    const inserting = insertInvite(tx, {
      id: deps.newId(),
      orgId,
      email: body.email,
      offer,
      tokenHash,
      madeByClient: token === undefined,
      invitedBy: caller.userId,
      now,
      expiresAt: new Date(now.getTime() + lifeMilliseconds),
    });
    const inserted = await orConflict(inserting, { invites_token_key: "this token exists: make another one" });
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        target: { id: inserted.id, parent_id: orgId },
        changes: { email: inserted.email, role: inserted.role, expires_at: inserted.expires_at },
      }),
    );
    return inserted;
  });
  return token === undefined ? invite : { ...invite, token };
}

/**
 * Opens the invitation in the organization's history, if there is one. Then the client must have
 * made the token.
 */
async function openInvitation(
  tx: Transaction,
  { orgId, userId, body }: { orgId: string; userId: string; body: NewInvite },
): Promise<void> {
  const { email, role, token_hash: tag, entry } = body;
  const history = await appendEntry(tx, {
    res: orgRes(orgId),
    orgId,
    entry,
    by: `user:${userId}`,
    expected: () => (tag === undefined ? null : { invite: { tag, kind: "user", perm: permissionOf(role), email } }),
  });
  if (history === null || tag !== undefined) return;
  const issue = "needed, with `entry`: the organization has a history, so that the client makes the token";
  throw new ServiceError("invalid_request", `\`token_hash\` is ${issue}`, {
    details: [{ field: "token_hash", issue }],
  });
}

/** Deletes the open invitation to this e-mail, or else checks the limit. */
async function replaceOpenInvite(
  tx: Transaction,
  { orgId, role, email }: { orgId: string; role: Role; email: string },
): Promise<void> {
  const replaced = await findInviteTo(tx, orgId, email);
  if (replaced !== null) {
    const revocable = requireRankOver(role, replaced);
    await deleteInvite(tx, revocable);
  } else if ((await countInvites(tx, orgId)) >= mostOpen) {
    throw new ServiceError("conflict", `${mostOpen} invitations are open: revoke some, or wait until they expire`);
  }
}
