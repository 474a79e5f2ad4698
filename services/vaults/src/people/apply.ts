import { type AuditDraft, auditSchemaName, type Membership } from "@coffer/events";
import { enqueueAudits } from "@coffer/outbox";
import type { Deps } from "../deps.ts";
import { momentOf } from "../moment.ts";
import { recomputeVisibility } from "../visibility/recompute.ts";
import { notifyViewers } from "../visibility/notify-viewers.ts";
import {
  type FormerVaultMember,
  leaveVaults,
  type NewerMembership,
  newerOf,
  storeMemberships,
  vaultsOfMembers,
} from "../store/membership-copies.ts";
import { lockPeople } from "../store/people.ts";
import { limitWaits } from "../store/statement-limit.ts";
import { lockVaults } from "../store/vaults/vault-locks.ts";
import { touchVaults } from "../store/vaults/vaults.ts";

/**
 * Applies memberships from auth-sm that are newer than the copy: the reply to `membershipChanged`.
 * A removed member leaves the organization's vaults, even after joining again. Suspended members
 * and auditors see no vaults. Returns how many were newer.
 * @param options.listed the memberships come from a listing, where only a later `joined_at` shows a
 *   removal
 * @param options.waitMilliseconds the lock timeout, if not the default
 */
export async function applyMemberships(
  deps: Pick<Deps, "database" | "newId" | "now">,
  received: readonly Membership[],
  { listed = false, waitMilliseconds }: { listed?: boolean; waitMilliseconds?: number } = {},
): Promise<number> {
  const candidates = await newerOf(deps.database.pool, received);
  if (candidates.length === 0) return 0;
  return deps.database.transaction(async (tx) => {
    if (waitMilliseconds !== undefined) await limitWaits(tx, waitMilliseconds);
    const userIds = candidates.map(({ user_id }) => user_id);
    await lockPeople(tx, userIds);
    const newer = await newerOf(tx, candidates);
    const stored = await storeMemberships(tx, newestOfEach(newer));
    const vaultIds = await vaultsOfMembers(tx, stored);
    if (vaultIds.length === 0) return stored.length;
    await lockVaults(tx, vaultIds);
    const gone = new Set(newer.filter((each) => each.status === "removed" || (listed && each.returned)).map(keyOf));
    const left = await leaveVaults(
      tx,
      stored.filter((each) => gone.has(keyOf(each))),
    );
    const visibility = await recomputeVisibility(tx, deps, { vaultIds, userIds });
    const fewer = left.map(({ vault_id }) => vault_id);
    await notifyViewers(tx, deps, await touchVaults(tx, fewer, deps.now()), visibility);
    await enqueueAudits(
      tx,
      left.map((member) => removalOf(deps, member)),
    );
    return stored.length;
  });
}

/**
 * The audit record of a removal from a vault. auth-sm records who removed the person from the
 * organization.
 */
function removalOf({ newId, now }: Pick<Deps, "newId" | "now">, member: FormerVaultMember): AuditDraft {
  const { org_id, user_id, vault_id, permission } = member;
  return {
    schema: auditSchemaName,
    id: newId(),
    time: momentOf(now()),
    org_id,
    outcome: "success",
    reason: "member_removed",
    action: "vault.member.removed",
    actor: { type: "system", id: "vaults" },
    target: { type: "user", id: user_id, parent_id: vault_id },
    source: { ip: null, user_agent: null },
    request: { id: newId(), method: null, route: null, status: null },
    changes: { permission },
  };
}

/** The membership with the greatest version, for each person and organization. */
function newestOfEach(newer: readonly NewerMembership[]): NewerMembership[] {
  const newest = new Map<string, NewerMembership>();
  for (const membership of newer) {
    const before = newest.get(keyOf(membership));
    if (before === undefined || before.version < membership.version) newest.set(keyOf(membership), membership);
  }
  return [...newest.values()];
}

function keyOf({ org_id, user_id }: { org_id: string; user_id: string }): string {
  return `${org_id} ${user_id}`;
}
