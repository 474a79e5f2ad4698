import { signal } from "@preact/signals";
import { type PagePath, pagePaths } from "../paths.ts";

/**
 * Where the person is. The open record is in the state of the history entry, and not in its address: a browser's
 * history must not name what travel mode hides.
 */
export interface Place {
  path: PagePath;
  recordId: string | null;
}

export const place = signal<Place>(placeOf(history.state));

/** The invitation of the address, whose fragment no server sees. It is read once, and removed from the address. */
export const invitation = signal(place.value.path === "/join" ? location.hash.slice(1) : "");
if (invitation.value !== "") history.replaceState(history.state, "", place.value.path);

addEventListener("popstate", ({ state }) => {
  place.value = placeOf(state);
});

/** Goes to another place, as a new entry of the browser's history. */
export function go(next: Partial<Place>): void {
  const { path, recordId } = { path: place.value.path, recordId: null, ...next };
  if (path === place.value.path && recordId === place.value.recordId) return;
  history.pushState({ recordId }, "", path);
  place.value = { path, recordId };
}

/** Forgets the open record in the present entry, for instance after a lock. */
export function forgetRecord(): void {
  history.replaceState({ recordId: null }, "", place.value.path);
  place.value = { ...place.value, recordId: null };
}

function placeOf(state: unknown): Place {
  const path = pagePaths.find((each) => each === location.pathname) ?? "/";
  const { recordId } = (state ?? {}) as { recordId?: unknown };
  return { path, recordId: typeof recordId === "string" ? recordId : null };
}
