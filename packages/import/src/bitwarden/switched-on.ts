import type { RecordPayload } from "@coffer/crypto";

/** Which of the fields that Bitwarden has a switch for are on. All else that stands in them a switch cannot say. */
export function switchedOn(payload: RecordPayload): string[] {
  return ["favorite", "reprompt"].filter((key) => payload[key] === "true");
}
