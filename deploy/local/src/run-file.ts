import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceName } from "@coffer/events";

export interface ServiceState {
  pid: number;
  url: string;
  management_url: string;
}

/** What scripts read to find a running Coffer. */
export interface RunState {
  url: string;
  management_url: string;
  pid: number;
  services: Partial<Record<ServiceName, ServiceState>>;
  /** The owner's addresses, with their credentials; without Redis that is `null`. */
  stores: { postgres: string; nats: string; redis: string | null };
  /** The processes of the stores that were started here. */
  store_pids: Partial<Record<"postgres" | "nats" | "redis", number>>;
}

export function runFileOf(dataDirectory: string): string {
  return join(dataDirectory, "run/coffer.json");
}

/** Replaces the file as a whole, so that nobody reads half of it. Only its owner may read it. */
export function writeRunFile(dataDirectory: string, state: RunState): void {
  const path = runFileOf(dataDirectory);
  writeFileSync(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** The file's content, or `null` when there is none. */
export function readRunFile(dataDirectory: string): RunState | null {
  try {
    return JSON.parse(readFileSync(runFileOf(dataDirectory), "utf8")) as RunState; // written by writeRunFile
  } catch {
    return null;
  }
}

/** Removes the file; none is no error. */
export function removeRunFile(dataDirectory: string): void {
  rmSync(runFileOf(dataDirectory), { force: true });
}
