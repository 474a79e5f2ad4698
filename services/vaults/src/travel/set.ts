import type { AuditDraft } from "@coffer/events";
import { enqueueAudit } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { settleSights } from "../sights/settle.ts";
import { lockPeople } from "../store/people.ts";
import { changeTravelMode, listUnsafeVaults } from "../store/travel.ts";
import { lockVaults } from "../store/vault-locks.ts";
import type { TravelMode } from "./show.ts";
import { travelModeView } from "./show.ts";

/**
 * Turns a person's travel mode on or off, with its audit records, in one transaction: the reply to `setTravelMode`.
 * When it is so already nothing changes, and nothing is recorded.
 */
export function setPersonsTravelMode(
  deps: Pick<Deps, "database" | "newId" | "now">,
  { user_id: userId, enabled, audit }: { user_id: string; enabled: boolean; audit: readonly AuditDraft[] },
): Promise<TravelMode> {
  return deps.database.transaction(async (tx) => {
    const [person] = await lockPeople(tx, [userId]);
    if (person?.travelling === enabled) return travelModeView(person);
    const updated_at = await changeTravelMode(tx, { userId, enabled, now: deps.now() });
    const vaultIds = await listUnsafeVaults(tx, userId);
    await lockVaults(tx, vaultIds);
    await settleSights(tx, deps, { vaultIds, userIds: [userId] });
    for (const record of audit) await enqueueAudit(tx, record);
    return { enabled, updated_at };
  });
}
