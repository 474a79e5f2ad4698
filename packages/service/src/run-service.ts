import { ConfigurationError } from "@coffer/env";
import type { Listener } from "@coffer/http";
import { serve } from "@coffer/http";
import type { Telemetry } from "@coffer/telemetry";
import { startManagement, startTracing } from "@coffer/telemetry";
import type { ServiceConfig, ServiceInstance, ServiceRoom } from "./service-room.ts";
import { untilStopped } from "./until-stopped.ts";

/** A service that takes requests. */
interface RunningService {
  url: string;
  managementUrl: string;
  telemetry: Telemetry;
  close(): Promise<void>;
}

/**
 * The life of a service as a process: reads its configuration, starts it, serves it and its management port, and on
 * SIGINT or SIGTERM (or when the process that forked it is gone) says not ready, drains its connections and ends with
 * exit code 0. A configuration that cannot be used ends it with exit code 1 and all problems on stderr.
 * Forked, it sends `{type: "ready", url, management_url}` once it answers.
 */
export async function runService<Config extends ServiceConfig>(room: ServiceRoom<Config>): Promise<void> {
  let config: Config;
  try {
    config = room.readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    endConversation();
    return;
  }
  const running = await startService(room, config);
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
  room: ServiceRoom<Config>,
  config: Config,
): Promise<RunningService> {
  const tracing = await startTracing(room.name, process.env);
  const service = await room.createService(config);
  const { telemetry } = service;
  const management = await startManagement({
    host: config.COFFER_HOST,
    port: config.COFFER_MANAGEMENT_PORT,
    telemetry,
    readiness: () => service.ready(),
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

/** `serve` takes a function that has the other as a property. */
function listenerOf({ listener, upgrade }: ServiceInstance): Listener {
  if (upgrade === undefined) return listener;
  return Object.assign((...[request, response]: Parameters<Listener>) => listener(request, response), { upgrade });
}

/** Lets a process that was forked end: an open channel to its parent would keep it alive. */
function endConversation(): void {
  if (process.connected) process.disconnect();
}
