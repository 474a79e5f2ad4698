import { waitingMemberships, waitingMembershipsKey } from "@coffer/events";
import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { keepTold } from "./keep.ts";

/** With what auth-sm takes to write it: a change is known here within a second. */
const everyMilliseconds = 400;

/** Keeps what auth-sm could not tell over the bus yet and has put into Redis. */
export function waitingMembershipsSweep(deps: Pick<Deps, "database" | "newId" | "now" | "redis">): Sweep {
  let heard: string | null = null;
  return {
    everyMilliseconds,
    failure: "changes of memberships that wait in Redis could not be kept; the bus brings them",
    batch: async () => {
      // One that is away has nothing; commands would pile up until it is back.
      const text = deps.redis.status === "ready" ? await deps.redis.get(waitingMembershipsKey) : null;
      if (text !== null && text !== heard) await keepTold(deps, waitingMemberships.parse(JSON.parse(text)));
      heard = text;
      return false;
    },
  };
}
