import type { Membership } from "@coffer/events";
import type { Deps } from "../deps.ts";
import { settleSights } from "../sights/settle.ts";
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
    await leaveVaults(
      tx,
      kept.filter(({ status }) => status === "removed"),
    );
    await settleSights(tx, deps, { vaultIds, userIds });
    return kept.length;
  });
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
