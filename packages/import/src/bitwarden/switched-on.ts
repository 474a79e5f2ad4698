import type { RecordPayload } from "@coffer/crypto";

/** The enabled switches of Bitwarden. A switch cannot represent any other value of these fields. */
export function switchedOn(payload: RecordPayload): string[] {
  return ["favorite", "reprompt"].filter((key) => payload[key] === "true");
}
