import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireMemberLocked, requireMembersLocked, requireRankOver } from "../access/members.ts";
import type { ActiveMembership } from "../access/membership.ts";
import { everyone } from "../access/membership.ts";
import { auditOf } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { tellFolderChange } from "../folders/tell.ts";
import type { Revocation } from "../sessions/revoke.ts";
import { revokeSessions } from "../sessions/revoke.ts";
import { deleteUserGrants } from "../store/folder-grants.ts";
import type { MemberRow } from "../store/members.ts";
import { actsElsewhere, deleteMembership } from "../store/members.ts";
import { drawMembershipVersion } from "../store/membership-versions.ts";
import type { MemberPath } from "./bodies.ts";
import { requireAnOwner } from "./last-owner.ts";
import { takeBackOffers } from "./take-back.ts";
import { tellMembership } from "./tell.ts";

type RemovalCall = Call<User, MemberPath>;

/**
 * DELETE /api/org/members/{user_id}: removes a member, or lets the caller leave, with every grant on the organization's
 * folders. Whoever can act in no other organization is logged out.
 */
export async function removeMember(deps: Deps, call: RemovalCall): Promise<void> {
  const revocations = await transactionInSession(deps, call.caller, async (tx) => {
    const membership = await requireMembersLocked(tx, call.caller, everyone);
    const member = await requireRemovable(tx, membership, call);
    await requireAnOwner(tx, membership.orgId, member, null);
    return endMembership(tx, deps, membership, member, call);
  });
  await deps.announcer.announce(revocations);
}

/** The member, locked. Everybody may leave; others are removed by who manages the organization. */
async function requireRemovable(
  tx: Transaction,
  { orgId, role }: ActiveMembership,
  { caller, params }: RemovalCall,
): Promise<MemberRow> {
  const leaves = params.user_id === caller.userId;
  if (!leaves) requireRankOver(role, "member");
  const member = await requireMemberLocked(tx, orgId, params.user_id);
  if (!leaves) requireRankOver(role, member.role);
  return member;
}

async function endMembership(
  tx: Transaction,
  deps: Deps,
  { orgId, actor }: ActiveMembership,
  member: MemberRow,
  { caller, request }: RemovalCall,
): Promise<Revocation[]> {
  const { user_id: userId, role } = member;
  const cause = { reason: "member_removed", actor, request, status: 204, orgId, userId } as const;
  const revocations = (await actsElsewhere(tx, orgId, userId)) ? [] : await revokeSessions(tx, deps, cause);
  const record = { org_id: orgId, actor, status: 204 } as const;
  const folders = await deleteUserGrants(tx, orgId, userId);
  await tellFolderChange(tx, deps, { folderIds: folders, change: "membership", userIds: [userId] });
  for (const folderId of folders) {
    const target = { type: "user", id: userId, parent_id: folderId };
    const entry = { ...record, action: "folder.member.removed", target, reason: "member_removed" } as const;
    await enqueueAudit(tx, auditOf(deps, request, entry));
  }
  const invites = await takeBackOffers(tx, deps, null, cause);
  await deleteMembership(tx, orgId, userId);
  const version = await drawMembershipVersion(tx);
  await tellMembership(tx, deps, { org_id: orgId, ...member, status: "removed", version });
  await enqueueAudit(
    tx,
    auditOf(deps, request, {
      ...record,
      action: "org.member.removed",
      target: { type: "user", id: userId, parent_id: orgId },
      ...(userId === caller.userId ? { reason: "left" } : {}),
      changes: { role, folders: folders.length, ...(invites === 0 ? {} : { invites_withdrawn: invites }) },
    }),
  );
  return revocations;
}
