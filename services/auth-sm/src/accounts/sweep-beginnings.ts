import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { deleteLoginCountsPast } from "../store/login-counts.ts";
import { deleteRegistrationStartsPast } from "../store/registration-starts.ts";

const batch = 1000;

/** Takes away what anybody can leave behind by beginning things: counts of logins, registrations that were begun. */
export function beginningsSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 5000,
    async batch() {
      const limits = { now: now(), limit: batch };
      const counts = await deleteLoginCountsPast(database.pool, limits);
      const registrations = await deleteRegistrationStartsPast(database.pool, limits);
      return counts === batch || registrations === batch;
    },
    failure: "what has begun and come to nothing cannot be removed now; a later sweep will",
  };
}
