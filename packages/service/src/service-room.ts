import type { IncomingMessage, RequestListener } from "node:http";
import type { Duplex } from "node:stream";
import type { Environment } from "@coffer/env";
import type { ServiceName } from "@coffer/events";
import type { LimiterOptions } from "@coffer/ratelimit";
import type { Readiness, Telemetry, TelemetryOptions } from "@coffer/telemetry";

/** What every service's configuration has, so that it can run as a process of its own. */
export type ServiceConfig = Environment<
  "COFFER_HOST" | "COFFER_PORT" | "COFFER_MANAGEMENT_PORT" | "COFFER_DRAIN_SECONDS" | "COFFER_LOG_LEVEL"
>;

/**
 * What the services of one process have in common: one set of metrics, one count of accepted requests for when Redis is
 * away; `destination` is where this one's log goes.
 */
export type Shared = Pick<TelemetryOptions, "registry" | "destination"> & Pick<LimiterOptions, "ownCount">;

/** A service that is built and connected but listens nowhere: its caller gives it requests. */
export interface ServiceInstance {
  listener: RequestListener;
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  telemetry: Telemetry;
  ready(): Promise<Readiness>;
  /**
   * Ends the connections that the service took over, one after the other within so many seconds, the last farewell
   * included, so that their callers do not all come back at once. Called when no more connections are taken, while the
   * last requests are answered; what is left then is cut.
   */
  drain?(seconds: number): Promise<void>;
  /** Ends what the service holds, after its last request was answered: bus, pools, timers. */
  close(): Promise<void>;
}

/** What every service exports, from config.ts and service.ts. */
export interface ServiceRoom<Config extends ServiceConfig> {
  name: ServiceName;
  /** Throws ConfigurationError. */
  readConfig(env: NodeJS.ProcessEnv): Config;
  createService(config: Config, shared?: Shared): ServiceInstance | Promise<ServiceInstance>;
}
