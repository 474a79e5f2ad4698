import type { Sweep } from "@coffer/service";
import { bucketAddress } from "@coffer/ratelimit";
import type { Deps } from "../deps.ts";
import { deleteKnownPlacesPast } from "../store/known-places.ts";

const knownMilliseconds = 90 * 24 * 60 * 60 * 1000;
const batch = 1000;

/** What an address is counted as: an IPv4 address, or the /64 of an IPv6 address. */
export function placeOf(ip: string): string {
  return bucketAddress(ip);
}

/** A place where an account's owner was after this moment is known. */
export function knownSince(now: Date): Date {
  return new Date(now.getTime() - knownMilliseconds);
}

/** Takes away the places that are known no more. */
export function knownPlaceSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 60 * 60 * 1000,
    batch: async () =>
      (await deleteKnownPlacesPast(database.pool, { since: knownSince(now()), limit: batch })) === batch,
    failure: "places of the past cannot be forgotten now; a later sweep will",
  };
}
