import type { Counter, Histogram, Metrics } from "@coffer/telemetry";

export interface SyncMetrics {
  closed(code: number): void;
  /** Every connection has received the push of a change committed at `updatedAt` (ISO 8601). */
  pushed(updatedAt: string): void;
}

const latencies = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Codes of this service, of clients and of lost connections; any other is counted as `other`. */
const codes = new Set([1000, 1001, 1002, 1005, 1006, 1007, 1008, 1009, 1011, 1012, 1013, 4001]);

/** `count` returns the number of open connections at each scrape. */
export function createSyncMetrics(metrics: Metrics, count: () => number, now: () => Date): SyncMetrics {
  metrics.gauge("coffer_sync_connections", "Open WebSocket connections").collect(count);
  const closes: Counter<"code"> = metrics.counter("coffer_sync_closes_total", "WebSocket connections ended, by code", [
    "code",
  ]);
  const latency: Histogram = metrics.histogram(
    "coffer_sync_push_latency_seconds",
    "From the commit of a change until every entitled connection of this replica has its push",
    latencies,
  );
  return {
    closed: (code) => closes.inc({ code: codes.has(code) ? code : "other" }),
    pushed: (updatedAt) => {
      const seconds = (now().getTime() - Date.parse(updatedAt)) / 1000;
      // The clock of the database may be ahead of this one.
      if (!Number.isNaN(seconds)) latency.observe(Math.max(0, seconds));
    },
  };
}
