import {
  changesSince,
  heldVaultHeads,
  membershipChanged,
  catchUpSince,
  setTravelMode,
  soleManagedVaults,
  travelModeOf,
  vaultViewers,
} from "@coffer/events";
import type { Deps } from "./deps.ts";
import { showHeads, showSoleManaged } from "./histories/heads.ts";
import { applyMemberships } from "./people/apply.ts";
import { listChanges } from "./sync/changes.ts";
import { listCatchUp } from "./sync/catch-up.ts";
import { showViewers } from "./sync/viewers.ts";
import { setPersonsTravelMode } from "./travel/set.ts";
import { showTravelMode } from "./travel/show.ts";

/** The bus surface: the operation for each subject. */
export function answerRequests(deps: Deps): void {
  const { bus } = deps;
  bus.reply(travelModeOf, ({ user_id }) => showTravelMode(deps, user_id));
  bus.reply(setTravelMode, (wanted) => setPersonsTravelMode(deps, wanted));
  bus.reply(changesSince, (input) => listChanges(deps, input));
  bus.reply(catchUpSince, (input) => listCatchUp(deps, input));
  bus.reply(vaultViewers, (input) => showViewers(deps, input));
  bus.reply(heldVaultHeads, (input) => showHeads(deps, input));
  bus.reply(soleManagedVaults, (input) => showSoleManaged(deps, input));
  bus.reply(membershipChanged, async ({ memberships }) => ({ kept: await applyMemberships(deps, memberships) }));
}
