import type { Counter, Gauge, Histogram, Metrics } from "@coffer/telemetry";

/** The interface of a scan request. */
export type Entry = "http" | "bus";

export interface ScanMetrics {
  /** `coffer_scanner_scans_total` */
  scans: Counter<"entry" | "outcome">;
  /** `coffer_scanner_waiting` */
  waiting: Gauge;
  /** `coffer_scanner_scan_seconds` */
  seconds: Histogram<"entry">;
}

export function createScanMetrics(metrics: Metrics): ScanMetrics {
  return {
    scans: metrics.counter("coffer_scanner_scans_total", "Scans, by who asked and what became of them", [
      "entry",
      "outcome",
    ]),
    waiting: metrics.gauge("coffer_scanner_waiting", "Scans that wait for a thread"),
    seconds: metrics.histogram(
      "coffer_scanner_scan_seconds",
      "How long a scan took, without the time that it waited",
      [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      ["entry"],
    ),
  };
}
