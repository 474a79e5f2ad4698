import { ConfigurationError } from "@coffer/env";
import { type Listener, serve } from "@coffer/http";
import { startManagement, startTracing, type Telemetry } from "@coffer/telemetry";
import type { ServiceConfig, ServiceInstance, ServiceModule } from "./service-module.ts";

/** A service that listens. */
interface RunningService {
  url: string;
  managementUrl: string;
  telemetry: Telemetry;
  close(): Promise<void>;
}

/** So long a service connects to its stores before the log says that one is away. */
const startMilliseconds = 5_000;

/**
 * Runs a service as a process: reads the configuration, serves the service and its management port.
 * On SIGINT, SIGTERM or the loss of its parent it reports not ready, drains its connections and
 * exits with 0. An invalid configuration exits with 1 and all problems on stderr. A forked process
 * sends `{type: "ready", url, management_url}` once it answers.
 */
export async function runService<Config extends ServiceConfig>(module: ServiceModule<Config>): Promise<void> {
  let config: Config;
  try {
    config = module.readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    endConversation();
    return;
  }
  const running = await startService(module, config);
  const { log } = running.telemetry;
  log.info({ url: running.url, management_url: running.managementUrl }, "ready");
  process.send?.({ type: "ready", url: running.url, management_url: running.managementUrl });
  const reason = await untilStopped();
  log.info({ reason }, "draining");
  await running.close();
  log.info("stopped");
  endConversation();
}

async function startService<Config extends ServiceConfig>(
  module: ServiceModule<Config>,
  config: Config,
): Promise<RunningService> {
  const tracing = await startTracing(module.name, process.env);
  const service = await module.createService(config);
  const { telemetry } = service;
  const management = await startManagement({
    host: config.COFFER_HOST,
    port: config.COFFER_MANAGEMENT_PORT,
    telemetry,
    readiness: () => service.ready(),
    startMilliseconds,
    onReadiness: ({ ready, degraded, checks }) => {
      if (!ready) telemetry.log.warn({ checks }, "not ready: a store is away or not migrated");
      else if (degraded === true) telemetry.log.warn({ checks }, "degraded: a store is away");
      else telemetry.log.info({ checks }, "its stores answer");
    },
  });
  const server = await serve(listenerOf(service), {
    host: config.COFFER_HOST,
    port: config.COFFER_PORT,
    drainSeconds: config.COFFER_DRAIN_SECONDS,
  });
  return {
    url: server.url,
    managementUrl: management.url,
    telemetry,
    async close() {
      management.setDraining();
      await Promise.all([server.close(), service.drain?.(config.COFFER_DRAIN_SECONDS)]);
      await service.close();
      await management.close();
      await tracing.close();
    },
  };
}

/** `serve` expects the upgrade handler as a property of the listener. */
function listenerOf({ listener, upgrade }: ServiceInstance): Listener {
  if (upgrade === undefined) return listener;
  return Object.assign((...[request, response]: Parameters<Listener>) => listener(request, response), { upgrade });
}

/** An open channel to the parent would hold a forked process open. */
function endConversation(): void {
  if (process.connected) process.disconnect();
}

/**
 * Resolves with the reason on SIGINT, SIGTERM or the loss of the parent process.
 * A second signal ends the process at once.
 */
function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (reason: string): void => {
      if (stopping) process.exit(1);
      stopping = true;
      resolve(reason);
    };
    process.on("SIGINT", () => stop("SIGINT"));
    process.on("SIGTERM", () => stop("SIGTERM"));
    process.once("disconnect", () => {
      if (!stopping) stop("the parent process is gone");
    });
  });
}
