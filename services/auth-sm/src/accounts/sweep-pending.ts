import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { deleteLoginCountsPast } from "../store/accounts/login-counts.ts";
import { deleteRegistrationStartsPast } from "../store/accounts/registration-starts.ts";

const batch = 1000;

/** Deletes expired login counts and pending registrations, which any client can create. */
export function pendingSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  return {
    everyMilliseconds: 5000,
    async batch() {
      const limits = { now: now(), limit: batch };
      const counts = await deleteLoginCountsPast(database.pool, limits);
      const registrations = await deleteRegistrationStartsPast(database.pool, limits);
      return counts === batch || registrations === batch;
    },
    failure: "cannot delete expired login counts and registrations now; a later sweep retries",
  };
}
