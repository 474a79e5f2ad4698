import { signal } from "@preact/signals";
import { type PagePath, pagePaths } from "../paths.ts";
import { mayLeave } from "./use-unsaved.ts";

/**
 * Where the person is. The open record or secret is in the state of the history entry, and not in its address: a
 * browser's history must not name what travel mode hides.
 */
export interface Place {
  path: PagePath;
  /** The record, secret or person that is open beside or instead of the list. */
  openId: string | null;
}

export const place = signal<Place>(placeOf(history.state));

/** The invitation of the address, whose fragment no server sees. It is read once, and removed from the address. */
export const invitation = signal(place.value.path === "/join" ? location.hash.slice(1) : "");
if (invitation.value !== "") history.replaceState(history.state, "", place.value.path);

addEventListener("popstate", ({ state }) => {
  const { path, openId } = place.value;
  // The browser has gone there already; an entry for the present place brings it back.
  if (mayLeave()) place.value = placeOf(state);
  else history.pushState({ openId }, "", path);
});

/** Goes to another place, as a new entry of the browser's history. */
export function go(next: Partial<Place>): void {
  const { path, openId } = { path: place.value.path, openId: null, ...next };
  if (path === place.value.path && openId === place.value.openId) return;
  if (!mayLeave()) return;
  history.pushState({ openId }, "", path);
  place.value = { path, openId };
}

/** Forgets what is open in the present entry, for instance after a lock. */
export function forgetOpen(): void {
  history.replaceState({ openId: null }, "", place.value.path);
  place.value = { ...place.value, openId: null };
}

function placeOf(state: unknown): Place {
  const path = pagePaths.find((each) => each === location.pathname) ?? "/";
  const { openId } = (state ?? {}) as { openId?: unknown };
  return { path, openId: typeof openId === "string" ? openId : null };
}
