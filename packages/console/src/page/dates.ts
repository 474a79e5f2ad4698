import { language } from "../messages/messages.ts";

/** A moment in the person's language: the day and the time. `long`: with seconds and the time zone, for evidence. */
export function momentOf(moment: string | number, timeStyle: "short" | "long" = "short"): string {
  return new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle }).format(new Date(moment));
}
