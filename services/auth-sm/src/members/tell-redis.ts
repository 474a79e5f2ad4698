import type { LostMembership, Membership } from "@coffer/events";
import { lostMembershipsKey, membershipChanged, mostLost } from "@coffer/events";
import { listWaiting } from "@coffer/postgres";
import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";

/** With what vaults takes to read it and to ask: a change is known there within a second, with some to spare. */
const everyMilliseconds = 200;
/** After that nobody writes it any more: it has arrived. */
const lifeMilliseconds = 10_000;

/**
 * Puts into Redis who has lost something of which vaults does not know yet, so that these people are refused there also
 * while the bus is away. Replicas may write an older list over a newer one; the next turn makes up for that.
 */
export function waitingMembershipsSweep({ database, redis }: Pick<Deps, "database" | "redis">): Sweep {
  return {
    everyMilliseconds,
    failure: "cannot tell Redis which memberships have changed; the bus does",
    batch: async () => {
      // The newest: each is among them when it is made, and who has heard of it does not need to hear again.
      const waiting = await listWaiting(database.pool, membershipChanged, mostLost);
      const lost = lostOf(waiting.flatMap(({ memberships }) => memberships));
      if (lost.length > 0 && redis?.status === "ready")
        await redis.set(lostMembershipsKey, JSON.stringify(lost), "PX", lifeMilliseconds);
      return false;
    },
  };
}

/** Of each membership the newest that waits, if it opens no vault: what gives something the bus alone says. */
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
