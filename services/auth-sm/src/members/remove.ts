import { type AuditedCall, auditOf } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { transactionInSession } from "../access/lasting-session.ts";
import { type Removable, requireLockedRemovable, requireRemovable } from "../access/members.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { type Revocation, revokeSessions } from "../sessions/revoke.ts";
import { deleteUserGrants } from "../store/folders/folder-grants.ts";
import { actsElsewhere, deleteMembership } from "../store/organizations/members.ts";
import { drawMembershipVersion } from "../store/organizations/membership-versions.ts";
import type { MemberPath, MemberRemoval } from "./bodies.ts";
import { requireAnOwner } from "./last-owner.ts";
import { type Removal, requireOtherManagers, type SoleManaged, soleManagedVaultsOf } from "./sole-manager.ts";
import { revokeOffers } from "./revoke-offers.ts";
import { publishMembership } from "./publish.ts";

type RemovalCall = AuditedCall<User, MemberPath, undefined, MemberRemoval>;

/**
 * DELETE /api/org/members/{user_id}
 * Removes a member with every grant on the organization's folders, or lets the caller leave. A
 * person who is active in no other organization is logged out. The only manager of a folder or
 * shared vault with a history is removed only with `force=true`. In the histories the removal stays
 * pending until a manager signs it.
 */
export async function removeMember(deps: Deps, call: RemovalCall): Promise<void> {
  const { caller, params, query } = call;
  // Before the transaction, so that no lock is held while the bus answers.
  const vaults = query.force === "true" ? null : await soleManagedVaults(deps, call);
  const revocations = await transactionInSession(deps, caller, async (tx) => {
    const removable = await requireLockedRemovable(tx, caller, params.user_id);
    await requireAnOwner(tx, removable.membership.orgId, removable.member, null);
    if (vaults !== null) await requireOtherManagers(tx, aboutRemoval(removable, caller), vaults);
    return endMembership(tx, deps, removable, call);
  });
  await deps.announcer.announce(revocations);
}

/** Authorizes first: the refusal of a caller without the right must not depend on the vaults. */
async function soleManagedVaults(deps: Deps, { caller, params }: RemovalCall): Promise<SoleManaged> {
  const removable = await requireRemovable(deps.database.pool, caller, params.user_id);
  return soleManagedVaultsOf(deps, aboutRemoval(removable, caller));
}

function aboutRemoval({ membership: { orgId, role }, member }: Removable, caller: User): Removal {
  return { orgId, userId: member.user_id, viewerId: caller.userId, viewerRole: role };
}

async function endMembership(
  tx: Transaction,
  deps: Deps,
  { membership: { orgId, actor }, member }: Removable,
  { caller, request, audit }: RemovalCall,
): Promise<Revocation[]> {
  const { user_id: userId, role } = member;
  const cause = { reason: "member_removed", actor, request, status: 204, orgId, userId } as const;
  const revocations = (await actsElsewhere(tx, orgId, userId)) ? [] : await revokeSessions(tx, deps, cause);
  const folders = await deleteUserGrants(tx, orgId, userId);
  await publishFolderChange(tx, deps, { folderIds: folders, change: "membership", userIds: [userId] });
  for (const folderId of folders) {
    const target = { type: "user", id: userId, parent_id: folderId };
    const entry = { org_id: orgId, actor, target, reason: "member_removed", status: 204 };
    await enqueueAudit(tx, auditOf(deps, request, { action: "folder.member.removed", ...entry }));
  }
  const invites = await revokeOffers(tx, deps, null, cause);
  await deleteMembership(tx, orgId, member);
  const version = await drawMembershipVersion(tx);
  await publishMembership(tx, deps, { org_id: orgId, ...member, status: "removed", version });
  await enqueueAudit(
    tx,
    audit({
      orgId,
      actor,
      target: { parent_id: orgId },
      reason: userId === caller.userId ? "left" : undefined,
      changes: { role, folders: folders.length, ...(invites === 0 ? {} : { invites_withdrawn: invites }) },
    }),
  );
  return revocations;
}
