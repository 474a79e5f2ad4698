import type { Route } from "@coffer/http";
import type { User } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { requireChosenOrganization } from "./organization.ts";

/**
 * An endpoint of one vault, which its path names: in whichever of the caller's organizations it is, the one that the
 * request chooses must be among them.
 */
export function inChosenOrganization<Row extends Route<Deps, User>>(row: Row): Row {
  return {
    ...row,
    run: async (deps, call) => {
      await requireChosenOrganization(deps, call.caller);
      return row.run(deps, call);
    },
  };
}
