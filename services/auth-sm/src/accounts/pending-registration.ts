import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { macOf } from "../keys/mac.ts";
import { takeStartedSetups, upsertRegistrationStart } from "../store/accounts/registration-starts.ts";
import { requireRegistrationRecord, respondToRegistration } from "./opaque.ts";

/** How long a started registration or password change can be finished. */
const millisecondsToFinish = 10 * 60_000;

/** The attempts to finish that one start allows. */
const mostAttempts = 5;

/** Names a pending registration by its canonical e-mail. */
export function registrant(keys: KeyRing, email: string): Buffer {
  return macOf(keys.accountKey, "registration", email);
}

/** Names a pending password change by its session. */
export function passwordChanger(keys: KeyRing, sessionId: string): Buffer {
  return macOf(keys.accountKey, "password", sessionId);
}

/**
 * Answers the first half of a registration with the newest OPAQUE setup and stores the setup's id.
 * The record that follows works with this setup alone and does not name it.
 * @param identifier the canonical e-mail; any other text gives an answer of the same form that
 * leads to no valid record
 * @throws ServiceError `invalid_request`
 */
export async function beginRegistration(
  deps: Deps,
  keys: KeyRing,
  { starter, identifier, registrationRequest }: { starter: Buffer; identifier: string; registrationRequest: string },
): Promise<{ registration_response: string }> {
  const { newestSetup } = keys;
  const registration_response = respondToRegistration(newestSetup.setup, identifier, registrationRequest);
  const expiresAt = new Date(deps.now().getTime() + millisecondsToFinish);
  await upsertRegistrationStart(deps.database.pool, { starter, setupId: newestSetup.id, expiresAt });
  return { registration_response };
}

/**
 * Returns the id of the setup of a record that finishes a pending start. Counts the attempt first,
 * so that a refused attempt costs one statement and no OPAQUE computation.
 * @throws ServiceError `invalid_request` when nothing is pending, when starts under two setups are
 * pending, after five attempts, or when the record is malformed
 */
export async function requirePendingRecord(
  db: Queryable,
  deps: Deps,
  { starter, email, registrationRecord }: { starter: Buffer; email: string; registrationRecord: string },
): Promise<number> {
  const [setupId, another] = await takeStartedSetups(db, { starter, most: mostAttempts, now: deps.now() });
  if (setupId === undefined || another !== undefined) {
    throw new ServiceError(
      "invalid_request",
      "there is no pending start, or it has expired or was tried five times: start again",
      {
        details: [{ field: "registration_record", issue: "answers no registration_response that is still valid" }],
      },
    );
  }
  requireRegistrationRecord((await deps.keys.setup(setupId)).setup, email, registrationRecord);
  return setupId;
}
