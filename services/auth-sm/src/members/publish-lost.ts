import { type LostMembership, lostMembershipsKey, type Membership, membershipChanged, mostLost } from "@coffer/events";
import { listWaiting } from "@coffer/outbox";
import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";

/**
 * vaults reads the key as often. So it learns of a change within a second, including a request to
 * confirm it.
 */
const everyMilliseconds = 200;
/** The key expires when all replicas have stopped writing it: then every change has been delivered. */
const lifeMilliseconds = 10_000;

/**
 * Writes to Redis which memberships were lost and are not yet delivered, so that vaults refuses
 * these people while the bus is unavailable. A replica may overwrite a newer list with an older
 * one; the next sweep corrects that.
 */
export function lostMembershipsSweep({ database, redis }: Pick<Deps, "database" | "redis">): Sweep {
  return {
    everyMilliseconds,
    failure: "cannot write lost memberships to Redis; the bus still publishes them",
    batch: async () => {
      // The newest ones: each change is among them when it is made, and vaults needs to read it
      // only once.
      const waiting = await listWaiting(database.pool, membershipChanged, mostLost);
      const lost = lostOf(waiting.flatMap(({ memberships }) => memberships));
      if (lost.length > 0 && redis?.status === "ready")
        await redis.set(lostMembershipsKey, JSON.stringify(lost), "PX", lifeMilliseconds);
      return false;
    },
  };
}

/**
 * The newest pending state of each membership, if it opens no vault. New rights travel over the bus
 * only.
 */
function lostOf(waiting: readonly Membership[]): LostMembership[] {
  const newest = new Map<string, Membership>();
  for (const each of waiting) {
    const key = `${each.org_id} ${each.user_id}`;
    const before = newest.get(key);
    if (before === undefined || before.version < each.version) newest.set(key, each);
  }
  return [...newest.values()]
    .filter(({ role, status }) => status !== "active" || role === "auditor")
    .map(({ org_id, user_id, version }) => ({ org_id, user_id, version }));
}
