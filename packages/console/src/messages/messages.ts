import { loadModule } from "../page/load-module.ts";
import type { LinkedModule } from "../page/load-module.ts";
import { firstState } from "../page/store.ts";
import type { Messages } from "./en.ts";

/** Each language is a module of its own, from the build: a browser loads one. */
declare const __LANGUAGES__: Readonly<Record<string, LinkedModule>>;

/** The person's choice in this browser goes first. */
const wanted = [(await firstState).settings.language, ...navigator.languages].map((tag) =>
  tag.slice(0, 2).toLowerCase(),
);
const chosen = wanted.find((tag) => Object.hasOwn(__LANGUAGES__, tag)) ?? "en";

/** The messages in the first wanted language that there is, English otherwise. */
export const { messages: m } = await loadModule<{ messages: Messages }>(__LANGUAGES__[chosen]);

export function language(): string {
  return chosen;
}
