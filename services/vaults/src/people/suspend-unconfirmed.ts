import type { Deps } from "../deps.ts";
import { recomputeVisibility } from "../visibility/recompute.ts";
import { suspendUnchanged, vaultsOfMembers, type VersionedMembership } from "../store/membership-copies.ts";
import { lockPeople } from "../store/people.ts";
import { limitWaits } from "../store/statement-limit.ts";
import { lockVaults } from "../store/vaults/vault-locks.ts";

/**
 * Suspends members without a removal by auth-sm: its listing lacks them, or Redis names them. They
 * see no vaults of the organization, but stay members of the vaults with their keys. The next
 * message from auth-sm restores or removes them.
 * @param options.waitMilliseconds the lock timeout, if not the default
 * @param options.forget drops their versions: auth-sm may have a database that never knew these
 *   members, where a new `joined_at` does not mean a removal
 */
export async function suspendUnconfirmed(
  deps: Pick<Deps, "database" | "newId" | "now">,
  members: readonly VersionedMembership[],
  { forget = false, waitMilliseconds }: { forget?: boolean; waitMilliseconds?: number } = {},
): Promise<void> {
  if (members.length === 0) return;
  await deps.database.transaction(async (tx) => {
    if (waitMilliseconds !== undefined) await limitWaits(tx, waitMilliseconds);
    const userIds = members.map(({ user_id }) => user_id);
    await lockPeople(tx, userIds);
    const vaultIds = await vaultsOfMembers(tx, await suspendUnchanged(tx, members, { forget }));
    if (vaultIds.length === 0) return;
    await lockVaults(tx, vaultIds);
    await recomputeVisibility(tx, deps, { vaultIds, userIds });
  });
}
