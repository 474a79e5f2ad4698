import type { AuditDraft, Membership } from "@coffer/events";
import { auditSchemaName } from "@coffer/events";
import { enqueueAudits } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { settleSights } from "../sights/settle.ts";
import type { FormerVaultMember } from "../store/membership-copies.ts";
import { keepMemberships, leaveVaults, newerOf, vaultsOfMembers } from "../store/membership-copies.ts";
import { lockPeople } from "../store/people.ts";
import { lockVaults } from "../store/vault-locks.ts";

/**
 * Keeps what auth-sm says of memberships, unless something newer is known: the reply to `membershipChanged`. Who was
 * removed leaves the organization's vaults; who is suspended, or an auditor, sees none of them until that changes.
 * Returns how many were news.
 */
export async function keepTold(
  deps: Pick<Deps, "database" | "newId" | "now">,
  told: readonly Membership[],
): Promise<number> {
  const news = await newerOf(deps.database.pool, newestOfEach(told));
  if (news.length === 0) return 0;
  return deps.database.transaction(async (tx) => {
    const userIds = news.map(({ user_id }) => user_id);
    await lockPeople(tx, userIds);
    const kept = await keepMemberships(tx, news);
    const vaultIds = await vaultsOfMembers(tx, kept);
    if (vaultIds.length === 0) return kept.length;
    await lockVaults(tx, vaultIds);
    const removed = kept.filter(({ status }) => status === "removed");
    const left = await leaveVaults(tx, removed);
    await settleSights(tx, deps, { vaultIds, userIds });
    await enqueueAudits(
      tx,
      left.map((member) => removalOf(deps, member)),
    );
    return kept.length;
  });
}

/** The record of somebody's removal from a vault. Who removed the person from the organization auth-sm has on record. */
function removalOf({ newId, now }: Pick<Deps, "newId" | "now">, member: FormerVaultMember): AuditDraft {
  const { org_id, user_id, vault_id, permission } = member;
  return {
    schema: auditSchemaName,
    id: newId(),
    time: now().toISOString(),
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

/** Of each person in each organization what has the greatest version. */
function newestOfEach(told: readonly Membership[]): Membership[] {
  const newest = new Map<string, Membership>();
  for (const membership of told) {
    const key = `${membership.org_id} ${membership.user_id}`;
    const before = newest.get(key);
    if (before === undefined || before.version < membership.version) newest.set(key, membership);
  }
  return [...newest.values()];
}
