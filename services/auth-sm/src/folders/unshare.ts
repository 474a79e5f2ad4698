import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireManagedFolder } from "../access/managed-folder.ts";
import { holders } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { revokeIssuedTokens } from "../members/revoke-offers.ts";
import { deleteMemberGrant, findMemberGrant } from "../store/folders/folder-grants.ts";
import { findMember } from "../store/organizations/members.ts";
import type { FolderMemberPath } from "./bodies.ts";
import { requireAnotherManager } from "./last-manager.ts";
import { publishFolderChange } from "./publish-change.ts";

/** DELETE /api/org/folders/{id}/members/{user_id} */
export function unshareFolder(
  deps: Deps,
  { caller, params, request, audit }: AuditedCall<User, FolderMemberPath>,
): Promise<void> {
  const { user_id: userId } = params;
  return transactionInSession(deps, caller, async (tx) => {
    const { orgId, actor, folder } = await requireManagedFolder(tx, caller, params.id, "grants");
    const grant = await findMemberGrant(tx, folder.id, userId);
    if (grant === null) throw new ServiceError("not_found", "this person has no grant on this folder");
    if (grant.permission === "manage") {
      const member = await findMember(tx, orgId, userId);
      const manages = member !== null && member.status === "active" && holders.includes(member.role);
      if (manages) await requireAnotherManager(tx, folder.id, userId);
      const by = { orgId, userId, reason: "grant_removed", actor, request, status: 204 };
      await revokeIssuedTokens(tx, deps, by, folder.id);
    }
    await deleteMemberGrant(tx, folder.id, userId);
    await publishFolderChange(tx, deps, { folderIds: [folder.id], change: "membership", userIds: [userId] });
    await enqueueAudit(tx, audit({ orgId, actor, changes: { permission: grant.permission } }));
  });
}
