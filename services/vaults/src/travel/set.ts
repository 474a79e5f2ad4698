import { ServiceError } from "@coffer/errors";
import type { setTravelMode } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import type { Users } from "@coffer/service";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { settleSights } from "../sights/settle.ts";
import type { PersonRow } from "../store/people.ts";
import { lockPeople } from "../store/people.ts";
import { limitRest } from "../store/statement-limit.ts";
import { changeTravelMode, listUnsafeVaults } from "../store/travel.ts";
import { lockVaults } from "../store/vault-locks.ts";
import type { TravelMode } from "./show.ts";
import { travelModeView } from "./show.ts";

/**
 * However many locks it waits for, it is done by then or not at all: auth-sm waits two seconds longer (`askVaults`) and
 * then says that it was not done.
 */
const mostMilliseconds = 6_000;

/**
 * Turns a person's travel mode on or off, with its audit records, in one transaction: the reply to `setTravelMode`.
 * When it is so already nothing changes, and nothing is recorded.
 * @param elapsed milliseconds of a clock that never goes back
 * @throws ServiceError `access_denied` when the journey began by `standing_since`; `unavailable` when it takes too long, or is heard of after its `until`; `invalid_token` when that
 *   session has ended before it is done; then nothing changes either
 */
export function setPersonsTravelMode(
  deps: Pick<Deps, "database" | "newId" | "now"> & { users: Pick<Users, "requireLasting"> },
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
  /** Until it is called again the transaction takes no longer than what is left now. */
  const hurry = async (tx: Transaction): Promise<void> => {
    const [leftHere, leftThere] = [deadline - elapsed(), given - deps.now().getTime()];
    if (leftThere <= 0) throw tooLate();
    if (leftHere <= 0) throw unavailable("the vaults are in use; try again");
    await limitRest(tx, Math.min(leftHere, leftThere));
  };
  return deps.database.transaction(async (tx) => {
    await hurry(tx);
    const [person] = await lockPeople(tx, [userId]);
    if (standingSince !== undefined && isOlder(person, standingSince)) throw tooYoung();
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

/** Whether a person's journey began before a moment, or at it. */
function isOlder(person: PersonRow | undefined, moment: string): boolean {
  if (person?.travelling !== true || person.travel_changed_at === null) return false;
  return Date.parse(person.travel_changed_at) <= Date.parse(moment);
}

function tooYoung(): ServiceError {
  return new ServiceError(
    "access_denied",
    "the member travels since before you had this role, or before the member joined: only the member can end this",
  );
}

/** By then auth-sm has given up, as far as its clock and this one agree. */
function tooLate(): ServiceError {
  return unavailable(
    "this came to vaults too late to be done, or its clock is seconds ahead of that of auth-sm; try again",
  );
}

function unavailable(message: string): ServiceError {
  return new ServiceError("unavailable", message, { retryAfterSeconds: 1 });
}
