import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireLockedVault, requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { recomputeVisibility } from "../visibility/recompute.ts";
import { notifyViewers } from "../visibility/notify-viewers.ts";
import { canHold } from "../store/memberships.ts";
import { lockPeople } from "../store/people.ts";
import { deleteMember, findPermission } from "../store/vaults/vault-members.ts";
import { touchVaults } from "../store/vaults/vaults.ts";
import type { VaultMemberPath } from "./bodies.ts";
import { requireAnotherManager } from "./last-manager.ts";

/** DELETE /api/vaults/{id}/members/{user_id}: a manager removes a member, or a member leaves. */
export function unshareVault(deps: Deps, { caller, params, audit }: AuditedCall<User, VaultMemberPath>): Promise<void> {
  const { user_id: userId } = params;
  const needed = userId === caller.userId ? "read" : "manage";
  return transactionInSession(deps, caller, async (tx) => {
    const seen = await requireVault(tx, caller, params.id, needed);
    if ((await findPermission(tx, seen.id, userId)) !== null) await lockPeople(tx, [userId]);
    const { id, orgId, actor } = await requireLockedVault(tx, caller, seen.id, needed);
    const permission = await findPermission(tx, id, userId);
    if (permission === null) throw new ServiceError("not_found", "this person is not a member of the vault");
    // A suspended manager or auditor does not count as a manager.
    if (permission === "manage" && (await canHold(tx, userId, orgId))) await requireAnotherManager(tx, id, userId);
    await deleteMember(tx, id, userId);
    const visibility = await recomputeVisibility(tx, deps, { vaultIds: [id], userIds: [userId] });
    await notifyViewers(tx, deps, await touchVaults(tx, [id], deps.now()), visibility);
    await enqueueAudit(tx, audit({ orgId, actor, changes: { permission } }));
  });
}
