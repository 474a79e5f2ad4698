import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { macOf } from "../keys/mac.ts";
import { takeStartedSetups, upsertRegistrationStart } from "../store/registration-starts.ts";
import { requireRegistrationRecord, respondToRegistration } from "./opaque.ts";

/** For how long a registration, or a change of the password, may be finished after it began. */
const millisecondsToFinish = 10 * 60_000;

/** So often what one start began may be tried to finish. */
const mostAttempts = 5;

/** Who registers: somebody with this canonical e-mail. */
export function registrant(keys: KeyRing, email: string): Buffer {
  return macOf(keys.accountKey, "registration", email);
}

/** Who changes a password: somebody in this session. */
export function passwordChanger(keys: KeyRing, sessionId: string): Buffer {
  return macOf(keys.accountKey, "password", sessionId);
}

/**
 * Answers the first half of a registration by the newest OPAQUE setup, and remembers by which: the record that comes of
 * it can be used with this setup alone, and does not show it.
 * @param identifier the canonical e-mail; anything else makes an answer of the same kind, of which no good record comes
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
 * The id of the setup to which a record belongs that finishes what `starter` began. Counts an attempt first: without a
 * start, or after five attempts, it costs one statement and nothing of OPAQUE.
 * @throws ServiceError `invalid_request` when nothing was begun, or under two setups, or the record is none
 */
export async function requireBegunRecord(
  db: Queryable,
  deps: Deps,
  { starter, email, registrationRecord }: { starter: Buffer; email: string; registrationRecord: string },
): Promise<number> {
  const [setupId, another] = await takeStartedSetups(db, { starter, most: mostAttempts, now: deps.now() });
  if (setupId === undefined || another !== undefined) {
    throw new ServiceError(
      "invalid_request",
      "this was not begun, or too long ago, or was tried five times: begin again",
      {
        details: [{ field: "registration_record", issue: "answers no registration_response that is still good" }],
      },
    );
  }
  requireRegistrationRecord((await deps.keys.setup(setupId)).setup, email, registrationRecord);
  return setupId;
}
