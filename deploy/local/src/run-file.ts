import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DeployedService } from "@coffer/events";

export interface ServiceState {
  pid: number;
  url: string;
  management_url: string;
}

/** The file by which scripts find a running Coffer. */
export interface RunState {
  url: string;
  management_url: string;
  pid: number;
  services: Partial<Record<DeployedService, ServiceState>>;
  /** The owner's URLs, with credentials; null without Redis. */
  stores: { postgres: string; nats: string; redis: string | null };
  /** The processes of the stores that were started here. */
  store_pids: Partial<Record<"postgres" | "nats" | "redis", number>>;
}

export function runFileOf(dataDirectory: string): string {
  return join(dataDirectory, "run/coffer.json");
}

/** Replaces the file atomically. Only its owner may read it. */
export function writeRunFile(dataDirectory: string, state: RunState): void {
  const path = runFileOf(dataDirectory);
  writeFileSync(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** The file's content; null without one. */
export function readRunFile(dataDirectory: string): RunState | null {
  try {
    return JSON.parse(readFileSync(runFileOf(dataDirectory), "utf8")) as RunState; // written by writeRunFile
  } catch {
    return null;
  }
}

/** Removes the file, if it exists. */
export function removeRunFile(dataDirectory: string): void {
  rmSync(runFileOf(dataDirectory), { force: true });
}
