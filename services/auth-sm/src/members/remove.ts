import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { enqueueAudit, type Transaction } from "@coffer/postgres";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireMemberLocked, requireMembersLocked, requireRankOver } from "../access/members.ts";
import { type ActiveMembership, everyone, requireMembership } from "../access/membership.ts";
import { auditOf } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { type Revocation, revokeSessions } from "../sessions/revoke.ts";
import { deleteUserGrants } from "../store/folder-grants.ts";
import { actsElsewhere, deleteMembership, findMember, type MemberRow } from "../store/members.ts";
import { drawMembershipVersion } from "../store/membership-versions.ts";
import type { MemberPath, MemberRemoval } from "./bodies.ts";
import { requireAnOwner } from "./last-owner.ts";
import { type Removal, requireOtherManagers, soleManagedVaultsOf } from "./sole-manager.ts";
import { revokeOffers } from "./revoke-offers.ts";
import { publishMembership } from "./publish.ts";

type RemovalCall = Call<User, MemberPath, undefined, MemberRemoval>;

/**
 * DELETE /api/org/members/{user_id}
 * Removes a member with every grant on the organization's folders, or lets the caller leave. A
 * person who is active in no other organization is logged out. The only manager of a folder or
 * shared vault with a history is removed only with `force=true`. In the histories the removal stays
 * pending until a manager signs it.
 */
export async function removeMember(deps: Deps, call: RemovalCall): Promise<void> {
  // Before the transaction, so that no lock is held while the bus answers.
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

/**
 * Authorizes the removal before vaults is queried: the refusal of a caller without the right must
 * not depend on the vaults.
 */
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

/** Every member may leave; managers may remove others. */
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
  await publishFolderChange(tx, deps, { folderIds: folders, change: "membership", userIds: [userId] });
  for (const folderId of folders) {
    const target = { type: "user", id: userId, parent_id: folderId };
    const entry = { ...record, action: "folder.member.removed", target, reason: "member_removed" } as const;
    await enqueueAudit(tx, auditOf(deps, request, entry));
  }
  const invites = await revokeOffers(tx, deps, null, cause);
  await deleteMembership(tx, orgId, userId);
  const version = await drawMembershipVersion(tx);
  await publishMembership(tx, deps, { org_id: orgId, ...member, status: "removed", version });
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
