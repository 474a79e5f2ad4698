import { ServiceError } from "@coffer/errors";
import type { setTravelMode } from "@coffer/events";
import { enqueueAudit } from "@coffer/outbox";
import { type Transaction } from "@coffer/postgres";
import type { Users } from "@coffer/service";
import type { z } from "zod";
import { changeableJourney } from "../access/journey.ts";
import type { Deps } from "../deps.ts";
import { recomputeVisibility } from "../visibility/recompute.ts";
import { changeTravelMode, listUnsafeVaults, lockPeople } from "../store/people.ts";
import { limitRest } from "../store/statement-limit.ts";
import { lockVaults } from "../store/vaults/vault-locks.ts";
import { type TravelMode, travelModeView } from "./show.ts";

/**
 * The deadline with all lock waits. auth-sm waits two seconds longer and then reports a failure.
 */
const mostMilliseconds = 6_000;

/**
 * Turns a person's travel mode on or off and audits it, in one transaction: the reply to
 * `setTravelMode`. Changes and audits nothing if the mode is already set.
 * @param elapsed milliseconds of a monotonic clock
 * @throws ServiceError `access_denied` if the journey began by `standing_since`; `unavailable`
 *   after the deadline or after `until`; `invalid_token` if the session ended before the commit
 */
export function setPersonsTravelMode(
  deps: Pick<Deps, "database" | "newId" | "now"> & { users: Pick<Users, "requireActiveSession"> },
  {
    user_id: userId,
    enabled,
    audit,
    session_id: sessionId,
    until,
    standing_since: standingSince,
  }: z.infer<typeof setTravelMode.input>,
  elapsed: () => number = () => performance.now(),
): Promise<TravelMode> {
  const deadline = elapsed() + mostMilliseconds;
  const given = until === undefined ? Infinity : Date.parse(until);
  /** Sets the statement and idle timeouts to the remaining time. */
  const applyDeadline = async (tx: Transaction): Promise<void> => {
    const [leftHere, leftThere] = [deadline - elapsed(), given - deps.now().getTime()];
    if (leftThere <= 0) throw tooLate();
    if (leftHere <= 0) throw unavailable("the vaults are in use; try again");
    await limitRest(tx, Math.min(leftHere, leftThere));
  };
  return deps.database.transaction(async (tx) => {
    await applyDeadline(tx);
    const [person] = await lockPeople(tx, [userId]);
    if (person === undefined) throw new Error("a person who is locked has a row");
    const traveller = changeableJourney(person, standingSince);
    if (traveller.travelling === enabled) return travelModeView(traveller);
    const updated_at = await changeTravelMode(tx, traveller, { enabled, now: deps.now() });
    const vaultIds = await listUnsafeVaults(tx, userId);
    await applyDeadline(tx);
    await lockVaults(tx, vaultIds);
    await applyDeadline(tx);
    await recomputeVisibility(tx, deps, { vaultIds, userIds: [userId] });
    for (const record of audit) await enqueueAudit(tx, record);
    await applyDeadline(tx);
    if (sessionId !== undefined) deps.users.requireActiveSession({ sessionId });
    return { enabled, updated_at };
  });
}

/** auth-sm has given up by then, if both clocks agree. */
function tooLate(): ServiceError {
  return unavailable(
    "the request reached vaults too late, or its clock is seconds ahead of the clock of auth-sm; try again",
  );
}

function unavailable(message: string): ServiceError {
  return new ServiceError("unavailable", message, { retryAfterSeconds: 1 });
}
