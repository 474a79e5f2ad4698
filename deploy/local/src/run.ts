import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { currentBuild } from "@coffer/console-app/current";
import { localBaseUrls } from "@coffer/env";
import { parseTrustedProxies } from "@coffer/ratelimit";
import { createTelemetry, Registry, startManagement, type Telemetry } from "@coffer/telemetry";
import { type Front, openFront } from "./services/front.ts";
import { startInOneProcess } from "./services/in-one-process.ts";
import { startInOwnProcesses } from "./services/in-own-processes.ts";
import { type Installation, noteFirstReady } from "./data/installation.ts";
import { startStores } from "./data/local-stores.ts";
import { migrateAll } from "./data/migrate-all.ts";
import { unreachableBaseUrls } from "./services/reachable.ts";
import { removeRunFile, writeRunFile } from "./run-file.ts";
import type { RunningServices } from "./services/running-services.ts";
import { environmentOf } from "./services/service-environment.ts";
import { presentServices, type ServiceRow } from "./services/services.ts";
import type { Settings } from "./settings.ts";
import { openPlace } from "./data/stores-place.ts";
import { cannotListen, StartupError } from "./startup-error.ts";

export interface RunOptions {
  settings: Settings;
  env: NodeJS.ProcessEnv;
  installation: Installation;
  report: (line: string) => void;
}

export interface Running {
  /** The public URL for a browser on this machine. */
  url: string;
  /** The URL of people and machines: the canonical base address, or `url` if none was set. */
  address: string;
  /** Whether a browser finds the console at that address. */
  hasConsole: boolean;
  /** Drains connections, ends services, then stores. */
  close(): Promise<void>;
}

const standardError = 2;
const readyMilliseconds = 30_000;

/**
 * Starts all parts of an installation. Resolves when all of them answer. After a failure, ends the
 * started parts and throws its error (StartupError, StoreError, ConfigurationError).
 */
export async function run({ settings, env, installation, report }: RunOptions): Promise<Running> {
  const console = settings.COFFER_CONSOLE;
  const rows = presentServices({ console });
  const dataDirectory = settings.COFFER_DATA_DIR;
  const ends: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  };
  try {
    let publish = (): void => undefined;
    removeRunFile(dataDirectory);
    const front = await openFront({
      host: settings.COFFER_HOST,
      port: settings.COFFER_PORT,
      drainSeconds: settings.COFFER_DRAIN_SECONDS,
      rows,
      corsOrigins: (port) => {
        const given = settings.COFFER_SYNC_ALLOWED_ORIGINS;
        return given.length > 0 ? given : localBaseUrls(port);
      },
    });
    ends.push(() => front.close());
    let services: RunningServices | null = null;
    const registry = new Registry();
    // The telemetry of this process; the services of one process add theirs.
    const telemetry = createTelemetry({ service: "local", registry, destination: standardError });
    const management = await startManagement({
      host: "127.0.0.1",
      port: settings.COFFER_MANAGEMENT_PORT,
      registry,
      readiness: async () => (await services?.ready()) ?? { ready: false, checks: { services: "down" } },
    }).catch((error: unknown) => {
      const port = settings.COFFER_MANAGEMENT_PORT;
      throw cannotListen(error, { host: "127.0.0.1", port, variable: "COFFER_MANAGEMENT_PORT" });
    });
    ends.push(() => management.close());
    const directory = openPlace(dataDirectory, installation.stores);
    report(`data in ${dataDirectory}${directory === dataDirectory ? "" : `, the files of the stores in ${directory}`}`);
    const stores = await startStores({ settings, directory, installation, report, onRestart: () => publish() });
    ends.push(() => stores.stop());
    const routerSecret = settings.COFFER_PROCESSES === "separate" ? randomBytes(24).toString("base64url") : null;
    const baseUrls = settings.COFFER_BASE_URL.length > 0 ? settings.COFFER_BASE_URL : localBaseUrls(front.port);
    const unreachable = unreachableBaseUrls(settings.COFFER_HOST, baseUrls);
    if (unreachable !== null) report(unreachable);
    const { siemKey } = installation;
    const billing = settings.COFFER_BILLING;
    const consoleDirectory = rows.some(({ name }) => name === "console")
      ? await currentBuild(join(dataDirectory, "console"), report)
      : undefined;
    const environment = (row: ServiceRow) =>
      environmentOf(row, { env, stores, baseUrls, billing, routerSecret, siemKey, consoleDirectory });
    await migrateAll({ rows, postgresUrls: stores.postgresUrls, report });
    for (const { name } of rows) report(`starting ${name}`);
    const started = await startServices({
      rows,
      environment,
      settings,
      telemetry,
      routerSecret,
      front,
      managementUrl: management.url,
      report,
      onChange: () => publish(),
    });
    services = started;
    ends.push(async () => {
      const seconds = settings.COFFER_DRAIN_SECONDS;
      await Promise.all([front.drain(seconds), started.drain(seconds)]);
      await started.close();
      await front.close();
    });
    await untilReady(started);
    const url = shownUrl(front.url);
    const isOwn = baseUrls.join() === localBaseUrls(front.port).join();
    const address = isOwn ? url : (baseUrls[0] ?? url);
    front.use(started.targets, address);
    const write = (): void =>
      writeRunFile(dataDirectory, {
        url,
        management_url: management.url,
        pid: process.pid,
        services: started.states(),
        stores: stores.urls,
        store_pids: stores.pids(),
      });
    write();
    publish = () => {
      try {
        write();
      } catch (error) {
        report(`coffer.json is not up to date: ${error instanceof Error ? error.message : String(error)}`);
      }
    };
    ends.push(() => {
      publish = () => undefined;
      management.setDraining();
      removeRunFile(dataDirectory);
    });
    if (installation.firstReadyAt === null) noteFirstReady(dataDirectory, installation);
    return { url, address, hasConsole: console === "on", close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface ServicesOptions {
  rows: readonly ServiceRow[];
  environment: (row: ServiceRow) => NodeJS.ProcessEnv;
  settings: Settings;
  telemetry: Telemetry;
  routerSecret: string | null;
  front: Front;
  managementUrl: string;
  report: (line: string) => void;
  onChange: () => void;
}

function startServices(options: ServicesOptions): Promise<RunningServices> {
  const { rows, environment, settings, telemetry, routerSecret, front, managementUrl, report, onChange } = options;
  const dataDirectory = settings.COFFER_DATA_DIR;
  const { refusals } = front;
  if (routerSecret === null) {
    const url = shownUrl(front.url);
    return startInOneProcess({
      rows,
      environmentOf: environment,
      dataDirectory,
      registry: telemetry.metrics.registry,
      url,
      managementUrl,
      refusals,
    });
  }
  return startInOwnProcesses({
    rows,
    environmentOf: environment,
    dataDirectory,
    trustedProxies: parseTrustedProxies(settings.COFFER_TRUSTED_PROXY_CIDRS),
    routerSecret,
    refusals,
    telemetry,
    drainSeconds: settings.COFFER_DRAIN_SECONDS,
    report,
    onChange,
  });
}

async function untilReady(services: RunningServices): Promise<void> {
  const until = performance.now() + readyMilliseconds;
  for (;;) {
    const { ready, degraded, checks } = await services.ready();
    if (ready && degraded !== true) return;
    if (performance.now() > until) {
      const down = Object.entries(checks).filter(([, state]) => state !== "ok");
      throw new StartupError(`not everything answers: ${down.map(([name, state]) => `${name} ${state}`).join(", ")}`);
    }
    await pause(20);
  }
}

/** The URL that works on this machine, also if the server listens on all addresses. */
function shownUrl(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
