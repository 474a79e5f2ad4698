import { language } from "../messages/messages.ts";

/** A moment in the person's language: the day and the time. */
export function momentOf(moment: string | number): string {
  return new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(moment));
}
