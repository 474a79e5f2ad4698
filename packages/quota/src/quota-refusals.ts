import type { Counter, Telemetry } from "@coffer/telemetry";

/** Counts the writes that a quota refused. */
export function quotaRefusals({ metrics }: Pick<Telemetry, "metrics">): Counter<"kind" | "limit"> {
  return metrics.counter(
    "coffer_quota_refusals_total",
    "Writes that were refused because of a quota, by kind of usage and limit",
    ["kind", "limit"],
  );
}
