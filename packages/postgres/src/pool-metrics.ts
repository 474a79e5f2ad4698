import type { Metrics } from "@coffer/telemetry";
import type { Gate } from "./gate.ts";
import type { Line } from "./line.ts";

/** How busy the connections are, at each scrape: those of transactions, and those of prepared statements. */
export function observePools(metrics: Metrics, gate: Gate, lines: readonly Line[]): void {
  const inUse = metrics.gauge("coffer_db_pool_in_use", "Database connections in use", ["pool"]);
  const waiting = metrics.gauge("coffer_db_pool_waiting", "Callers that wait for a database connection", ["pool"]);
  inUse.collect(() => {
    inUse.set(gate.inUse, { pool: "transactions" });
    inUse.set(lines.filter(({ pending }) => pending > 0).length, { pool: "prepared" });
  });
  waiting.collect(() => {
    waiting.set(gate.waiting, { pool: "transactions" });
    waiting.set(
      lines.reduce((sum, { pending }) => sum + Math.max(0, pending - 1), 0),
      { pool: "prepared" },
    );
  });
}
