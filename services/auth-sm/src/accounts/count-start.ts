import { ServiceError } from "@coffer/errors";
import type { Queryable, Transaction } from "@coffer/postgres";
import {
  everywhere,
  listLoginCounts,
  lockLoginCounts,
  type LoginCount,
  updateLoginCount,
} from "../store/accounts/login-counts.ts";
import { afterStart, delayAtKnownPlace, delayOf } from "./login-delay.ts";

/** The counter of recoveries. Only holders of the recovery key reach it. */
const recoveries = "recovery";

/** A login attempt. Nothing here may depend on whether the account exists. */
export interface LoginAttempt {
  /** The MAC of the account's e-mail. */
  account: Buffer;
  place: string;
  /** Whether the account's owner has logged in or renewed a session from this address. */
  isKnownPlace: boolean;
  /** The hash of the credential when the login comes from a known device of the account. */
  deviceHash: Buffer | null;
  now: Date;
}

/**
 * The counters of a login. A known device has its own counter; all other logins count for the whole
 * account and for their address. So attempts from elsewhere never delay a known device.
 */
function placesOf({ place, deviceHash }: LoginAttempt): readonly string[] {
  return deviceHash === null ? [everywhere, place] : [`device ${deviceHash.toString("base64url")}`];
}

/**
 * Refuses a login that is too early before any lock is taken.
 * @throws ServiceError `rate_limited`
 */
export async function refuseEarlyLogin(db: Queryable, login: LoginAttempt): Promise<void> {
  refuseEarly(await listLoginCounts(db, { account: login.account, places: placesOf(login) }), login);
}

/**
 * Counts a login attempt until one of the account succeeds. The lock serializes attempts across
 * replicas.
 * @throws ServiceError `rate_limited` when the attempt is too early
 */
export async function countLoginStart(tx: Transaction, login: LoginAttempt): Promise<void> {
  const { account, now } = login;
  const counts = await lockLoginCounts(tx, { account, places: placesOf(login), now });
  refuseEarly(counts, login);
  for (const count of counts) await updateLoginCount(tx, account, afterStart(count, now));
}

function refuseEarly(counts: readonly LoginCount[], { isKnownPlace, now }: LoginAttempt): void {
  const waits = counts.map((count) =>
    count.place === everywhere && isKnownPlace ? delayAtKnownPlace(count, now) : delayOf(count, now),
  );
  refuseWhile(Math.max(0, ...waits));
}

/**
 * Counts a recovery that started with the right key: the second factor could still be guessed.
 * @throws ServiceError `rate_limited`
 */
export async function countRecoveryStart(
  tx: Transaction,
  { account, now }: { account: Buffer; now: Date },
): Promise<void> {
  for (const count of await lockLoginCounts(tx, { account, places: [recoveries], now })) {
    refuseWhile(delayOf(count, now));
    await updateLoginCount(tx, account, afterStart(count, now));
  }
}

function refuseWhile(milliseconds: number): void {
  if (milliseconds <= 0) return;
  throw new ServiceError("rate_limited", "too many logins were started and not finished: wait as Retry-After says", {
    retryAfterSeconds: Math.ceil(milliseconds / 1000),
  });
}
