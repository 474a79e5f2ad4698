import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireMemberLocked, requireMembersLocked, requireRankOver } from "../access/members.ts";
import type { ActiveMembership } from "../access/membership.ts";
import { everyone, requireMembership } from "../access/membership.ts";
import { auditOf } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { tellFolderChange } from "../folders/tell.ts";
import type { Revocation } from "../sessions/revoke.ts";
import { revokeSessions } from "../sessions/revoke.ts";
import { deleteUserGrants } from "../store/folder-grants.ts";
import type { MemberRow } from "../store/members.ts";
import { actsElsewhere, deleteMembership, findMember } from "../store/members.ts";
import { drawMembershipVersion } from "../store/membership-versions.ts";
import type { MemberPath, MemberRemoval } from "./bodies.ts";
import { requireAnOwner } from "./last-owner.ts";
import type { Removal } from "./sole-manager.ts";
import { requireOtherManagers, soleManagedVaultsOf } from "./sole-manager.ts";
import { takeBackOffers } from "./take-back.ts";
import { tellMembership } from "./tell.ts";

type RemovalCall = Call<User, MemberPath, undefined, MemberRemoval>;

/**
 * DELETE /api/org/members/{user_id}: removes a member, or lets the caller leave, with every grant on the organization's
 * folders. Whoever can act in no other organization is logged out. The only manager of a folder or shared vault with a
 * history is removed with `force=true` alone. In the histories the drop is pending until a manager signs it.
 */
export async function removeMember(deps: Deps, call: RemovalCall): Promise<void> {
  // Before the transaction, so that no lock waits for the bus.
  const vaults = call.query.force === "true" ? null : await soleManagedVaultsOf(deps, await removalOf(deps, call));
  const revocations = await transactionInSession(deps, call.caller, async (tx) => {
    const membership = await requireMembersLocked(tx, call.caller, everyone);
    const member = await requireRemovable(call, membership, (orgId, userId) => requireMemberLocked(tx, orgId, userId));
    await requireAnOwner(tx, membership.orgId, member, null);
    if (vaults !== null) await requireOtherManagers(tx, aboutRemoval(membership, call), vaults);
    return endMembership(tx, deps, membership, member, call);
  });
  await deps.announcer.announce(revocations);
}

/** The removal, when it is allowed: what a caller who may not remove anybody is told must not depend on the vaults. */
async function removalOf(deps: Deps, call: RemovalCall): Promise<Removal> {
  const { pool } = deps.database;
  const membership = await requireMembership(pool, call.caller, everyone);
  await requireRemovable(call, membership, async (orgId, userId) => {
    const member = await findMember(pool, orgId, userId);
    if (member === null) throw new ServiceError("not_found", "member not found");
    return member;
  });
  return aboutRemoval(membership, call);
}

function aboutRemoval({ orgId, role }: ActiveMembership, { caller, params }: RemovalCall): Removal {
  return { orgId, userId: params.user_id, viewerId: caller.userId, viewerRole: role };
}

/** The member. Everybody may leave; others are removed by who manages the organization. */
async function requireRemovable(
  { caller, params }: RemovalCall,
  { orgId, role }: ActiveMembership,
  find: (orgId: string, userId: string) => Promise<MemberRow>,
): Promise<MemberRow> {
  const leaves = params.user_id === caller.userId;
  if (!leaves) requireRankOver(role, "member");
  const member = await find(orgId, params.user_id);
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
