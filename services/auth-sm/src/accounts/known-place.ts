import type { Sweep } from "@coffer/service";
import { bucketAddress } from "@coffer/ratelimit";
import type { Deps } from "../deps.ts";
import { deleteKnownPlacesPast } from "../store/accounts/known-places.ts";

const knownMilliseconds = 90 * 24 * 60 * 60 * 1000;
const batch = 1000;

/** The address that logins are counted by: an IPv4 address, or the /64 of an IPv6 address. */
export function placeOf(ip: string): string {
  return bucketAddress(ip);
}

/** An address that the account's owner used after this moment is known. */
export function knownSince(now: Date): Date {
  return new Date(now.getTime() - knownMilliseconds);
}

export function knownPlaceSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 60 * 60 * 1000,
    batch: async () =>
      (await deleteKnownPlacesPast(database.pool, { since: knownSince(now()), limit: batch })) === batch,
    failure: "cannot delete old known addresses now; a later sweep retries",
  };
}
