import type { DeployedService } from "@coffer/events";
import type { Refusals } from "@coffer/http";
import { createOwnCount, type OwnCount } from "@coffer/ratelimit";
import { limiterWindowSeconds, type ServiceInstance } from "@coffer/service";
import { type Registry, startTracing } from "@coffer/telemetry";
import type { Target } from "./front.ts";
import { nothingHere } from "../refuse.ts";
import { joinReadiness, type RunningServices } from "./running-services.ts";
import { logFile, openLog } from "./service-log.ts";
import { loadService, type ServiceRow } from "./services.ts";

export interface OneProcessOptions {
  rows: readonly ServiceRow[];
  environmentOf: (row: ServiceRow) => NodeJS.ProcessEnv;
  dataDirectory: string;
  registry: Registry;
  /** The URLs of the one process. */
  url: string;
  managementUrl: string;
  refusals: Refusals;
}

interface BuiltService {
  name: DeployedService;
  instance: ServiceInstance;
}

/** Builds every service in this process. If one fails, closes the others and throws its error. */
export async function startInOneProcess(options: OneProcessOptions): Promise<RunningServices> {
  const built: BuiltService[] = [];
  const tracing = await startTracing("coffer", process.env);
  const close = async (): Promise<void> => {
    await Promise.all(built.map(({ instance }) => instance.close()));
    await tracing.close();
  };
  const ownCount = createOwnCount(limiterWindowSeconds);
  const results = await Promise.allSettled(options.rows.map((row) => build(row, ownCount, options)));
  for (const result of results) if (result.status === "fulfilled") built.push(result.value);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  const state = { pid: process.pid, url: options.url, management_url: options.managementUrl };
  return {
    targets: new Map(built.map(({ name, instance }) => [name, targetOf(instance, options.refusals)])),
    states: () => Object.fromEntries(built.map(({ name }) => [name, state])),
    ready: async () =>
      joinReadiness(
        await Promise.all(built.map(async ({ name, instance }) => [name, await instance.ready()] as const)),
      ),
    drain: async (seconds) => {
      await Promise.all(built.map(({ instance }) => instance.drain?.(seconds) ?? Promise.resolve()));
    },
    close,
  };
}

async function build(
  row: ServiceRow,
  ownCount: OwnCount,
  { environmentOf, dataDirectory, registry }: OneProcessOptions,
): Promise<BuiltService> {
  const service = await loadService(row);
  const config = service.readConfig(environmentOf(row));
  // Stays open until the process ends: a late line must not reach another file under its number.
  const destination = openLog(logFile(dataDirectory, row.name));
  return { name: row.name, instance: await service.createService(config, { registry, destination, ownCount }) };
}

function targetOf({ listener, upgrade }: ServiceInstance, refusals: Refusals): Target {
  return {
    request: listener,
    upgrade: upgrade ?? ((request, socket) => refusals.upgrade(request, socket, nothingHere(request.url))),
  };
}
