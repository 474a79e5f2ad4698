import { timestampText } from "@coffer/http";

/** A timestamp that Postgres can keep: it knows no year 0. */
export const moment = timestampText.refine((text) => !text.startsWith("0000"), "there is no year 0");

/** The hour in which a moment is, by its beginning. */
export function hourOf(time: string): string {
  return `${time.slice(0, 13)}:00:00Z`;
}
