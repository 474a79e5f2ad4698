import type { DestinationStream, Logger } from "pino";
import { Registry } from "prom-client";
import type { LogLevel } from "./logger.ts";
import { createLogger } from "./logger.ts";
import type { Metrics } from "./metric-types.ts";
import { createMetrics } from "./metrics.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { version } from "./version.ts";

/** What a service says about itself. */
export interface Telemetry {
  readonly service: string;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface TelemetryOptions {
  service: string;
  /** Default `info`. */
  level?: LogLevel | undefined;
  /** Given when several services share a process: one registry, one management port. */
  registry?: Registry | undefined;
  /** Where log lines go. Default: standard output. */
  destination?: DestinationStream | undefined;
}

/** Logger and metrics of one service. The registry also gets the metrics of the process and `coffer_build_info`. */
export function createTelemetry({ service, level = "info", registry, destination }: TelemetryOptions): Telemetry {
  const metrics = createMetrics(service, registry ?? new Registry());
  addProcessMetrics(metrics.registry, registry === undefined ? service : undefined);
  metrics
    .gauge("coffer_build_info", "Which release runs here; always 1", ["version", "node_version"])
    .set(1, { version, node_version: process.version });
  return { service, log: createLogger(service, level, destination), metrics };
}
