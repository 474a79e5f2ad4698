import type { Deps } from "../deps.ts";
import { settleSights } from "../sights/settle.ts";
import type { SeenMembership } from "../store/membership-copies.ts";
import { suspendSeen, vaultsOfMembers } from "../store/membership-copies.ts";
import { lockPeople } from "../store/people.ts";
import { limitWaits } from "../store/statement-limit.ts";
import { lockVaults } from "../store/vault-locks.ts";

/**
 * Lets people see none of an organization's vaults of whom it seems that they belong to it no more, though auth-sm has not
 * said so: they are missing where it lists its members, or Redis has word of it. They stay members of their vaults, with
 * the keys that are nowhere else: what seems so may be wrong, and the next word of auth-sm gives all back, or removes them.
 * @param options.waitMilliseconds how long to wait for what others hold, if not as long as usual
 * @param options.forget whether their versions are forgotten: auth-sm may have a database that never knew these members, and
 *   who joins there anew was not removed
 */
export async function suspendUntold(
  deps: Pick<Deps, "database" | "newId" | "now">,
  members: readonly SeenMembership[],
  { forget = false, waitMilliseconds }: { forget?: boolean; waitMilliseconds?: number } = {},
): Promise<void> {
  if (members.length === 0) return;
  await deps.database.transaction(async (tx) => {
    if (waitMilliseconds !== undefined) await limitWaits(tx, waitMilliseconds);
    const userIds = members.map(({ user_id }) => user_id);
    await lockPeople(tx, userIds);
    const vaultIds = await vaultsOfMembers(tx, await suspendSeen(tx, members, { forget }));
    if (vaultIds.length === 0) return;
    await lockVaults(tx, vaultIds);
    await settleSights(tx, deps, { vaultIds, userIds });
  });
}
