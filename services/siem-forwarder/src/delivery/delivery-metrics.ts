import { type SiemFormat, siemFormats } from "@coffer/contract";
import type { Telemetry } from "@coffer/telemetry";
import type { BatchProgress } from "./send-batch.ts";

/** The metrics of delivery. */
export interface DeliveryMetrics {
  /** Counts the records of a batch by what became of them, and its failure. */
  count(format: SiemFormat, progress: Pick<BatchProgress, "taken" | "parked" | "failure">): void;
  /** The records that wait for the endpoints of this replica, by format. */
  setBacklog(backlog: ReadonlyMap<string, number>): void;
}

const outcomes = ["delivered", "parked", "failed"] as const;

export function createDeliveryMetrics({ metrics }: Telemetry): DeliveryMetrics {
  const deliveries = metrics.counter(
    "coffer_siem_deliveries_total",
    "Records delivered and parked, and deliveries that failed",
    ["format", "outcome"],
  );
  const backlog = metrics.gauge("coffer_siem_backlog", "Records that wait for delivery to a SIEM", ["format"]);
  for (const format of siemFormats) {
    backlog.set(0, { format });
    for (const outcome of outcomes) deliveries.inc({ format, outcome }, 0);
  }
  return {
    count(format, { taken, parked, failure }) {
      deliveries.inc({ format, outcome: "delivered" }, taken);
      deliveries.inc({ format, outcome: "parked" }, parked);
      if (failure !== null) deliveries.inc({ format, outcome: "failed" });
    },
    setBacklog(waiting) {
      for (const format of siemFormats) backlog.set(waiting.get(format) ?? 0, { format });
    },
  };
}
