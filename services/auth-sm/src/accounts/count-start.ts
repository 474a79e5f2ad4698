import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import { bucketAddress } from "@coffer/ratelimit";
import { everywhere, lockLoginCounts, updateLoginCount } from "../store/login-counts.ts";
import { afterStart, delayAtKnownPlace, delayOf } from "./login-delay.ts";

/** Where recoveries are counted, by those alone who hold the recovery key. */
const recoveries = "recovery";

/** What an address is counted as: an IPv4 address, or the /64 of an IPv6 address. */
export function placeOf(ip: string): string {
  return bucketAddress(ip);
}

/**
 * Counts a login that begins, until one of the account succeeds. Those that begin at once wait for each other, at every
 * replica. Nothing of it depends on whether anybody has the account.
 * @param account the MAC of its e-mail
 * @param isKnownPlace whether its owner has logged in from there
 * @throws ServiceError `rate_limited` when it is too early
 */
export async function countLoginStart(
  tx: Transaction,
  { account, place, isKnownPlace, now }: { account: Buffer; place: string; isKnownPlace: boolean; now: Date },
): Promise<void> {
  const counts = await lockLoginCounts(tx, { account, places: [everywhere, place], now });
  const waits = counts.map((count) =>
    count.place === everywhere && isKnownPlace ? delayAtKnownPlace(count, now) : delayOf(count, now),
  );
  refuseWhile(Math.max(...waits));
  for (const count of counts) await updateLoginCount(tx, account, afterStart(count, now));
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
