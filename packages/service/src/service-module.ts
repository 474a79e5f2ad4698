import type { IncomingMessage, RequestListener } from "node:http";
import type { Duplex } from "node:stream";
import type { Environment } from "@coffer/env";
import type { DeployedService } from "@coffer/events";
import type { LimiterOptions } from "@coffer/ratelimit";
import type { Readiness, Telemetry, TelemetryOptions } from "@coffer/telemetry";

/** The variables that every service needs to run as its own process. */
export type ServiceConfig = Environment<
  "COFFER_HOST" | "COFFER_PORT" | "COFFER_MANAGEMENT_PORT" | "COFFER_DRAIN_SECONDS" | "COFFER_LOG_LEVEL"
>;

/**
 * The parts that services in one process share: the metrics registry, and the count of accepted
 * requests for use without Redis. `destination` receives this service's log.
 */
export type Shared = Pick<TelemetryOptions, "registry" | "destination"> & Pick<LimiterOptions, "ownCount">;

/** A service that is built and connected but does not listen: its owner passes requests to it. */
export interface ServiceInstance {
  listener: RequestListener;
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  telemetry: Telemetry;
  ready(): Promise<Readiness>;
  /**
   * Closes upgraded connections, spread over `seconds`, so that clients do not all reconnect at
   * once. Called when the server accepts no more connections. Connections that remain after it are
   * cut.
   */
  drain?(seconds: number): Promise<void>;
  /** Closes bus, pools and timers, after the last request was answered. */
  close(): Promise<void>;
}

/** The exports of a service's config.ts and service.ts. */
export interface ServiceModule<Config extends ServiceConfig> {
  name: DeployedService;
  /** Throws ConfigurationError. */
  readConfig(env: NodeJS.ProcessEnv): Config;
  createService(config: Config, shared?: Shared): ServiceInstance | Promise<ServiceInstance>;
}

/**
 * Node flags of a service in its own process (measured in docs/benchmarks.md).
 * A young generation of 4 MiB instead of 16 saves about 10 MiB of an idle service.
 * The heap may triple between full collections. With V8's default, a sync of 27 MiB of buffers
 * caused five collections, which took three quarters of sync's CPU.
 */
export const nodeFlags: readonly string[] = ["--max-semi-space-size=4", "--heap-growing-percent=200"];
