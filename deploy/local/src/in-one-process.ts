import type { ServiceName } from "@coffer/events";
import type { Refusals } from "@coffer/http";
import type { OwnCount } from "@coffer/ratelimit";
import { createOwnCount } from "@coffer/ratelimit";
import type { ServiceInstance } from "@coffer/service";
import { limiterWindowSeconds } from "@coffer/service";
import type { Registry } from "@coffer/telemetry";
import { startTracing } from "@coffer/telemetry";
import type { Target } from "./front.ts";
import { nothingHere } from "./refuse.ts";
import { joinReadiness } from "./running-services.ts";
import type { RunningServices } from "./running-services.ts";
import { logFile, openLog } from "./service-log.ts";
import { loadService } from "./services.ts";
import type { ServiceRow } from "./services.ts";

export interface OneProcessOptions {
  rows: readonly ServiceRow[];
  environmentOf: (row: ServiceRow) => NodeJS.ProcessEnv;
  dataDirectory: string;
  registry: Registry;
  /** The addresses under which the one process answers. */
  url: string;
  managementUrl: string;
  refusals: Refusals;
}

interface Room {
  name: ServiceName;
  instance: ServiceInstance;
}

/** Builds every service in this process. When one cannot be built, the others are closed and its error is thrown. */
export async function startInOneProcess(options: OneProcessOptions): Promise<RunningServices> {
  const rooms: Room[] = [];
  const tracing = await startTracing("coffer", process.env);
  const close = async (): Promise<void> => {
    await Promise.all(rooms.map(({ instance }) => instance.close()));
    await tracing.close();
  };
  const ownCount = createOwnCount(limiterWindowSeconds);
  const results = await Promise.allSettled(options.rows.map((row) => build(row, ownCount, options)));
  for (const result of results) if (result.status === "fulfilled") rooms.push(result.value);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  const state = { pid: process.pid, url: options.url, management_url: options.managementUrl };
  return {
    targets: new Map(rooms.map(({ name, instance }) => [name, targetOf(instance, options.refusals)])),
    states: () => Object.fromEntries(rooms.map(({ name }) => [name, state])),
    ready: async () =>
      joinReadiness(
        await Promise.all(rooms.map(async ({ name, instance }) => [name, await instance.ready()] as const)),
      ),
    drain: async (seconds) => {
      await Promise.all(rooms.map(({ instance }) => instance.drain?.(seconds) ?? Promise.resolve()));
    },
    close,
  };
}

async function build(
  row: ServiceRow,
  ownCount: OwnCount,
  { environmentOf, dataDirectory, registry }: OneProcessOptions,
): Promise<Room> {
  const service = await loadService(row);
  const config = service.readConfig(environmentOf(row));
  // Stays open until the process ends: a line that is written late must not reach another file under its number.
  const destination = openLog(logFile(dataDirectory, row.name));
  return { name: row.name, instance: await service.createService(config, { registry, destination, ownCount }) };
}

function targetOf({ listener, upgrade }: ServiceInstance, refusals: Refusals): Target {
  return {
    request: listener,
    upgrade: upgrade ?? ((request, socket) => refusals.upgrade(request, socket, nothingHere(request.url))),
  };
}
