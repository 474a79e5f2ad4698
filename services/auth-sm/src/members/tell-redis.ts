import { membershipChanged, waitingMembershipsKey } from "@coffer/events";
import { listWaiting } from "@coffer/postgres";
import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";

/** With what vaults takes to read it: a change is known there within a second. */
const everyMilliseconds = 400;
/** After that nobody writes it any more: it has arrived. */
const lifeMilliseconds = 10_000;
const most = 1000;

/**
 * Puts changes of memberships that wait for vaults into Redis, so that who was removed or suspended is refused there also
 * while the bus is away. They are told by their versions, so that it does not matter which way is faster.
 */
export function waitingMembershipsSweep({ database, redis }: Pick<Deps, "database" | "redis">): Sweep {
  return {
    everyMilliseconds,
    failure: "cannot tell Redis which memberships have changed; the bus does",
    batch: async () => {
      const waiting = await listWaiting(database.pool, membershipChanged, most);
      const changed = waiting.flatMap(({ memberships }) => memberships);
      if (changed.length > 0 && redis.status === "ready")
        await redis.set(waitingMembershipsKey, JSON.stringify(changed), "PX", lifeMilliseconds);
      return false;
    },
  };
}
