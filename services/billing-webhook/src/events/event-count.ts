import type { Counter, Telemetry } from "@coffer/telemetry";
import { eventTypes } from "./read-event.ts";

/**
 * Makes the counter of billing events. What alerts look for begins at 0: Prometheus sees no
 * increase in a first value.
 */
export function createEventCount({ metrics }: Pick<Telemetry, "metrics">): Counter<"type" | "outcome"> {
  const count = metrics.counter("coffer_billing_events_total", "Billing events, by what became of them", [
    "type",
    "outcome",
  ]);
  count.inc({ type: "unknown", outcome: "bad_signature" }, 0);
  for (const type of eventTypes) count.inc({ type, outcome: "unknown_price" }, 0);
  return count;
}
