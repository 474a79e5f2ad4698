import { ServiceError } from "@coffer/errors";
import type { Queryable, Transaction } from "@coffer/postgres";
import type { LoginCount } from "../store/login-counts.ts";
import { everywhere, listLoginCounts, lockLoginCounts, updateLoginCount } from "../store/login-counts.ts";
import { afterStart, delayAtKnownPlace, delayOf } from "./login-delay.ts";

/** Where recoveries are counted, by those alone who hold the recovery key. */
const recoveries = "recovery";

/** A login that would begin. Nothing that becomes of it here depends on whether anybody has the account. */
export interface LoginBeginning {
  /** The MAC of the account's e-mail. */
  account: Buffer;
  place: string;
  /** Whether the account's owner has logged in or renewed a session there. */
  isKnownPlace: boolean;
  /** The hash of the credential, where the login comes from one of the account's devices. */
  deviceHash: Buffer | null;
  now: Date;
}

/**
 * Where a login is counted: a device's own logins on their own, others over the whole account and at the place. So nothing
 * that others do delays a device of the account.
 */
function placesOf({ place, deviceHash }: LoginBeginning): readonly string[] {
  return deviceHash === null ? [everywhere, place] : [`device ${deviceHash.toString("base64url")}`];
}

/**
 * Refuses a login that is too early without making anybody wait for it.
 * @throws ServiceError `rate_limited`
 */
export async function refuseEarlyLogin(db: Queryable, login: LoginBeginning): Promise<void> {
  refuseEarly(await listLoginCounts(db, { account: login.account, places: placesOf(login) }), login);
}

/**
 * Counts a login that begins, until one of the account succeeds. Those that begin at once wait for each other, at every
 * replica.
 * @throws ServiceError `rate_limited` when it is too early
 */
export async function countLoginStart(tx: Transaction, login: LoginBeginning): Promise<void> {
  const { account, now } = login;
  const counts = await lockLoginCounts(tx, { account, places: placesOf(login), now });
  refuseEarly(counts, login);
  for (const count of counts) await updateLoginCount(tx, account, afterStart(count, now));
}

function refuseEarly(counts: readonly LoginCount[], { isKnownPlace, now }: LoginBeginning): void {
  const waits = counts.map((count) =>
    count.place === everywhere && isKnownPlace ? delayAtKnownPlace(count, now) : delayOf(count, now),
  );
  refuseWhile(Math.max(0, ...waits));
}

/**
 * Counts a recovery that begins with the right key: what is guessed after it is the second factor.
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
  throw new ServiceError("rate_limited", "too many logins were begun and not finished: wait as Retry-After says", {
    retryAfterSeconds: Math.ceil(milliseconds / 1000),
  });
}
