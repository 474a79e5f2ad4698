import type { DeployedService } from "@coffer/events";
import { createMemoryLimits, type Refusals } from "@coffer/http";
import type { TrustedProxies } from "@coffer/ratelimit";
import type { Readiness, Telemetry } from "@coffer/telemetry";
import { createProxy } from "./proxy.ts";
import { joinReadiness, type RunningServices } from "./running-services.ts";
import { runServiceProcess, type ServiceProcess } from "./service-process.ts";
import type { ServiceRow } from "./services.ts";

export interface OwnProcessesOptions {
  rows: readonly ServiceRow[];
  environmentOf: (row: ServiceRow) => NodeJS.ProcessEnv;
  dataDirectory: string;
  trustedProxies: TrustedProxies;
  routerSecret: string;
  refusals: Refusals;
  /** Of the router. */
  telemetry: Telemetry;
  drainSeconds: number;
  report: (line: string) => void;
  /** Called whenever a process ends or starts. */
  onChange: () => void;
}

const readinessMilliseconds = 1_500;

/** Runs every service as its own process. If one does not start, ends the others (StartupError). */
export async function startInOwnProcesses(options: OwnProcessesOptions): Promise<RunningServices> {
  const { rows, trustedProxies, routerSecret, refusals, telemetry, drainSeconds, onChange } = options;
  const processes = new Map<DeployedService, ServiceProcess>();
  const close = async (): Promise<void> => {
    await Promise.all([...processes.values()].map((process) => process.stop(drainSeconds + 1)));
  };
  let started = false;
  const results = await Promise.allSettled(
    rows.map(async (row) => {
      const { name } = row;
      const running = await runServiceProcess({
        ...options,
        name,
        environment: options.environmentOf(row),
        onChange: () => {
          if (started) onChange();
        },
      });
      processes.set(name, running);
    }),
  );
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  started = true;
  const answerLimits = createMemoryLimits(telemetry);
  const proxyTo = (running: ServiceProcess) =>
    createProxy({ address: () => hostAndPort(running), trustedProxies, secret: routerSecret, refusals, answerLimits });
  return {
    targets: new Map([...processes].map(([name, running]) => [name, proxyTo(running)])),
    states: () => Object.fromEntries([...processes].flatMap(([name, running]) => stateOf(name, running))),
    ready: async () =>
      joinReadiness(
        await Promise.all(
          [...processes].map(async ([name, running]) => [name, await fetchReadiness(running)] as const),
        ),
      ),
    // Each drains itself when it is stopped.
    drain: () => Promise.resolve(),
    close,
  };
}

function hostAndPort(running: ServiceProcess): { host: string; port: number } | null {
  const address = running.address();
  if (address === null) return null;
  const { hostname, port } = new URL(address.url);
  return { host: hostname, port: Number(port) };
}

function stateOf(name: DeployedService, running: ServiceProcess) {
  const address = running.address();
  if (address === null) return [];
  return [[name, { pid: address.pid, url: address.url, management_url: address.managementUrl }] as const];
}

async function fetchReadiness(running: ServiceProcess): Promise<Readiness> {
  const address = running.address();
  if (address === null) return { ready: false, checks: { process: "down" } };
  try {
    const signal = AbortSignal.timeout(readinessMilliseconds);
    const answer = await fetch(`${address.managementUrl}/readyz`, { signal });
    // The services' own management port, telemetry's shape.
    const { status, checks } = (await answer.json()) as { status: string; checks: Record<string, string> };
    return { ready: answer.ok, degraded: status === "degraded", checks };
  } catch {
    return { ready: false, checks: { process: "down" } };
  }
}
