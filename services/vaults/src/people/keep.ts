import type { AuditDraft, Membership } from "@coffer/events";
import { auditSchemaName } from "@coffer/events";
import { enqueueAudits } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { momentOf } from "../moment.ts";
import { settleSights } from "../sights/settle.ts";
import { tellChanged } from "../sights/tell-changed.ts";
import type { FormerVaultMember, NewerMembership } from "../store/membership-copies.ts";
import { keepMemberships, leaveVaults, newerOf, vaultsOfMembers } from "../store/membership-copies.ts";
import { lockPeople } from "../store/people.ts";
import { limitWaits } from "../store/statement-limit.ts";
import { lockVaults } from "../store/vault-locks.ts";
import { touchVaults } from "../store/vaults.ts";

/**
 * Keeps what auth-sm says of memberships, unless something newer is known: the reply to `membershipChanged`. Who was
 * removed leaves the organization's vaults, also who is back since; who is suspended, or an auditor, sees none of them
 * until that changes. Returns how many were news.
 * @param options.listed these are memberships as auth-sm lists them, where a removal shows only in who has joined again
 * @param options.waitMilliseconds how long to wait for what others hold, if not as long as usual
 */
export async function keepTold(
  deps: Pick<Deps, "database" | "newId" | "now">,
  told: readonly Membership[],
  { listed = false, waitMilliseconds }: { listed?: boolean; waitMilliseconds?: number } = {},
): Promise<number> {
  const candidates = await newerOf(deps.database.pool, told);
  if (candidates.length === 0) return 0;
  return deps.database.transaction(async (tx) => {
    if (waitMilliseconds !== undefined) await limitWaits(tx, waitMilliseconds);
    const userIds = candidates.map(({ user_id }) => user_id);
    await lockPeople(tx, userIds);
    const news = await newerOf(tx, candidates);
    const kept = await keepMemberships(tx, newestOfEach(news));
    const vaultIds = await vaultsOfMembers(tx, kept);
    if (vaultIds.length === 0) return kept.length;
    await lockVaults(tx, vaultIds);
    const gone = new Set(news.filter((each) => each.status === "removed" || (listed && each.returned)).map(keyOf));
    const left = await leaveVaults(
      tx,
      kept.filter((each) => gone.has(keyOf(each))),
    );
    const sights = await settleSights(tx, deps, { vaultIds, userIds });
    const fewer = left.map(({ vault_id }) => vault_id);
    await tellChanged(tx, deps, await touchVaults(tx, fewer, deps.now()), sights);
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

/** Of each person in each organization what has the greatest version. */
function newestOfEach(news: readonly NewerMembership[]): NewerMembership[] {
  const newest = new Map<string, NewerMembership>();
  for (const membership of news) {
    const before = newest.get(keyOf(membership));
    if (before === undefined || before.version < membership.version) newest.set(keyOf(membership), membership);
  }
  return [...newest.values()];
}

function keyOf({ org_id, user_id }: { org_id: string; user_id: string }): string {
  return `${org_id} ${user_id}`;
}
