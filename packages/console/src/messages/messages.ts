import { de } from "./de.ts";
import { en } from "./en.ts";
import type { Messages } from "./en.ts";

const languages: Record<string, Messages> = { en, de };

/** The messages in the first language of the browser that there is, English otherwise. */
export const m: Messages = languages[language()] ?? en;

export function language(): string {
  const wanted = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase());
  return wanted.find((tag) => Object.hasOwn(languages, tag)) ?? "en";
}
