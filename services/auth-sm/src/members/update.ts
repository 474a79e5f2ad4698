import type { MemberStatus, Role } from "@coffer/contract";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireMemberLocked, requireMembersLocked, requireRankOver } from "../access/members.ts";
import { holders, managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { memberHolder, orgRes, permissionOf } from "../histories/resources.ts";
import { type Revocation, revokeSessions } from "../sessions/revoke.ts";
import { listUserGrants } from "../store/folders/folder-grants.ts";
import { actsElsewhere, changeMembership, listMemberKeys, type MemberRow } from "../store/organizations/members.ts";
import { drawMembershipVersion } from "../store/organizations/membership-versions.ts";
import type { MemberChange, MemberPath } from "./bodies.ts";
import { requireAnOwner } from "./last-owner.ts";
import { revokeOffers } from "./revoke-offers.ts";
import { publishMembership } from "./publish.ts";

/**
 * PATCH /api/org/members/{user_id}
 * A field that is not sent is not changed. A suspended person who is active in no other
 * organization is logged out.
 */
export async function updateMember(
  deps: Deps,
  { caller, params, body, request, audit }: AuditedCall<User, MemberPath, MemberChange>,
): Promise<MemberRow> {
  let revocations: Revocation[] = [];
  const member = await transactionInSession(deps, caller, async (tx) => {
    const { orgId, role: held, actor } = await requireMembersLocked(tx, caller, managers);
    const present = requireRankOver(held, await requireMemberLocked(tx, orgId, params.user_id));
    const userId = present.user_id;
    const { role = present.role, status = present.status } = body;
    const next = requireRankOver(held, { role, status });
    await signRole(tx, { orgId, signerId: caller.userId, present, role, entry: body.entry });
    if (role === present.role && status === present.status) return present;
    await requireAnOwner(tx, orgId, present, next);
    const cause = { actor, request, status: 200, orgId, userId } as const;
    revocations = [];
    if (status === "suspended" && present.status === "active" && !(await actsElsewhere(tx, orgId, userId))) {
      revocations = await revokeSessions(tx, deps, { ...cause, reason: "member_suspended" });
    }
    const version = await drawMembershipVersion(tx);
    await changeMembership(tx, { orgId, version, now: deps.now() }, present, next);
    await publishMembership(tx, deps, { org_id: orgId, ...present, ...next, version });
    if (canHold(next) !== canHold(present)) {
      const folderIds = await listUserGrants(tx, orgId, userId);
      await publishFolderChange(tx, deps, { folderIds, change: "membership", userIds: [userId] });
    }
    const reason = status === "suspended" ? "member_suspended" : "role_changed";
    const invites = await revokeOffers(tx, deps, status === "suspended" ? null : role, { ...cause, reason });
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        target: { parent_id: orgId },
        changes: {
          ...next,
          previous_role: present.role,
          previous_status: present.status,
          ...(invites === 0 ? {} : { invites_withdrawn: invites }),
        },
      }),
    );
    return { ...present, ...next };
  });
  await deps.announcer.announce(revocations);
  return member;
}

/** Appends the permission of the new role to the organization's history, if the role changes it. */
async function signRole(
  tx: Transaction,
  change: { orgId: string; signerId: string; present: MemberRow; role: Role; entry: string | undefined },
): Promise<void> {
  const { orgId, signerId, present, role, entry } = change;
  const isSigned = permissionOf(role) !== permissionOf(present.role);
  const keys = await listMemberKeys(tx, orgId, [present.user_id]);
  const set = keys.map((key) => memberHolder({ ...key, role }));
  await appendEntry(tx, {
    res: orgRes(orgId),
    orgId,
    entry,
    by: `user:${signerId}`,
    expected: () => (isSigned ? { set } : null),
  });
}

function canHold({ role, status }: { role: Role; status: MemberStatus }): boolean {
  return status === "active" && holders.includes(role);
}
