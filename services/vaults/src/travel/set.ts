import { ServiceError } from "@coffer/errors";
import type { AuditDraft } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import type { Users } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { settleSights } from "../sights/settle.ts";
import { lockPeople } from "../store/people.ts";
import { limitStatements } from "../store/statement-limit.ts";
import { changeTravelMode, listUnsafeVaults } from "../store/travel.ts";
import { lockVaults } from "../store/vault-locks.ts";
import type { TravelMode } from "./show.ts";
import { travelModeView } from "./show.ts";

/**
 * However many locks it waits for, it is done by then or not at all: auth-sm waits two seconds longer (`askVaults`) and
 * then says that it was not done.
 */
const mostMilliseconds = 6_000;

/** Whose mode, with which records, and in whose session it is wanted. */
interface Wanted {
  user_id: string;
  enabled: boolean;
  audit: readonly AuditDraft[];
  session_id?: string | undefined;
}

/**
 * Turns a person's travel mode on or off, with its audit records, in one transaction: the reply to `setTravelMode`.
 * When it is so already nothing changes, and nothing is recorded.
 * @param elapsed milliseconds of a clock that never goes back
 * @throws ServiceError `unavailable` when it takes too long, `invalid_token` when that session has ended before it is done;
 *   then nothing changes either
 */
export function setPersonsTravelMode(
  deps: Pick<Deps, "database" | "newId" | "now"> & { users: Pick<Users, "requireLasting"> },
  { user_id: userId, enabled, audit, session_id: sessionId }: Wanted,
  elapsed: () => number = () => performance.now(),
): Promise<TravelMode> {
  const deadline = elapsed() + mostMilliseconds;
  /** Until it is called again no statement takes longer than what is left now. */
  const hurry = async (tx: Transaction): Promise<void> => {
    const left = deadline - elapsed();
    if (left <= 0) throw new ServiceError("unavailable", "the vaults are in use; try again", { retryAfterSeconds: 1 });
    await limitStatements(tx, left);
  };
  return deps.database.transaction(async (tx) => {
    await hurry(tx);
    const [person] = await lockPeople(tx, [userId]);
    if (person?.travelling === enabled) return travelModeView(person);
    const updated_at = await changeTravelMode(tx, { userId, enabled, now: deps.now() });
    const vaultIds = await listUnsafeVaults(tx, userId);
    await hurry(tx);
    await lockVaults(tx, vaultIds);
    await hurry(tx);
    await settleSights(tx, deps, { vaultIds, userIds: [userId] });
    for (const record of audit) await enqueueAudit(tx, record);
    // The last word before the commit.
    await hurry(tx);
    if (sessionId !== undefined) deps.users.requireLasting({ sessionId });
    return { enabled, updated_at };
  });
}
