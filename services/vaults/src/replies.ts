import {
  changesSince,
  heldVaultHeads,
  membershipChanged,
  newsSince,
  setTravelMode,
  soleManagedVaults,
  travelModeOf,
  vaultViewers,
} from "@coffer/events";
import type { Deps } from "./deps.ts";
import { showHeads, showSoleManaged } from "./histories/heads.ts";
import { keepTold } from "./people/keep.ts";
import { listChanges } from "./sync/changes.ts";
import { listNews } from "./sync/news.ts";
import { showViewers } from "./sync/viewers.ts";
import { setPersonsTravelMode } from "./travel/set.ts";
import { showTravelMode } from "./travel/show.ts";

/** Answers what other services ask over the bus: which operation answers which subject. */
export function answerRequests(deps: Deps): void {
  const { bus } = deps;
  bus.reply(travelModeOf, ({ user_id }) => showTravelMode(deps, user_id));
  bus.reply(setTravelMode, (wanted) => setPersonsTravelMode(deps, wanted));
  bus.reply(changesSince, (asked) => listChanges(deps, asked));
  bus.reply(newsSince, (asked) => listNews(deps, asked));
  bus.reply(vaultViewers, (asked) => showViewers(deps, asked));
  bus.reply(heldVaultHeads, (asked) => showHeads(deps, asked));
  bus.reply(soleManagedVaults, (asked) => showSoleManaged(deps, asked));
  bus.reply(membershipChanged, async ({ memberships }) => ({ kept: await keepTold(deps, memberships) }));
}
