import type { DeployedService } from "@coffer/events";
import type { Readiness } from "@coffer/telemetry";
import type { Target } from "./front.ts";
import type { ServiceState } from "../run-file.ts";

/** All services of the installation, in one process or several. */
export interface RunningServices {
  targets: ReadonlyMap<DeployedService, Target>;
  states(): Partial<Record<DeployedService, ServiceState>>;
  ready(): Promise<Readiness>;
  /** Closes upgraded connections, spread over `seconds`. */
  drain(seconds: number): Promise<void>;
  /** Ends them after their last request was answered. */
  close(): Promise<void>;
}

/** The readiness of all: ready if all are, degraded if one is. */
export function joinReadiness(each: readonly (readonly [DeployedService, Readiness])[]): Readiness {
  const checks = each.flatMap(([name, { checks }]) =>
    Object.entries(checks).map(([check, state]) => [`${name}.${check}`, state] as const),
  );
  return {
    ready: each.every(([, { ready }]) => ready),
    degraded: each.some(([, { degraded }]) => degraded === true),
    checks: Object.fromEntries(checks),
  };
}
