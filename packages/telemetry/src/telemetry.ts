import type { DestinationStream, Logger } from "pino";
import { Registry } from "prom-client";
import { createLogger, type LogLevel } from "./logger.ts";
import { createLogWriter } from "./log-writer.ts";
import type { Metrics } from "./metric-types.ts";
import { createMetrics } from "./metrics.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { version } from "./version.ts";

/** The log and the metrics of a service. */
export interface Telemetry {
  readonly service: string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface TelemetryOptions {
  service: string;
  /** Default `info`. */
  level?: LogLevel | undefined;
  /** For services that share a process: one registry, one management port. */
  registry?: Registry | undefined;
  /** A stream, or the descriptor of a file that stays open. Default: standard output. */
  destination?: DestinationStream | number | undefined;
}

const standardOutput = 1;

/**
 * Logger and metrics of one service. The registry also gets the metrics of the process,
 * `coffer_build_info`, and `coffer_log_lines_lost_total`: lines that a descriptor did not accept.
 */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { service, level = "info", registry, destination = standardOutput } = options;
  const metrics = createMetrics(service, registry ?? new Registry());
  addProcessMetrics(metrics.registry, service);
  metrics
    .gauge("coffer_build_info", "Which release runs here; always 1", ["version", "node_version"])
    .set(1, { version, node_version: process.version });
  const lost = metrics.counter("coffer_log_lines_lost_total", "Log lines that could not be written");
  const lines = typeof destination === "number" ? createLogWriter(destination, () => lost.inc()) : destination;
  return { service, log: createLogger(service, level, lines), metrics };
}
