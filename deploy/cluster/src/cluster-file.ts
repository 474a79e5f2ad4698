import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DeployedService } from "@coffer/events";

export interface Replica {
  service: DeployedService;
  pid: number;
  url: string;
  management_url: string;
}

/** The file by which scripts find a running cluster. */
export interface ClusterState {
  url: string;
  pid: number;
  nginx_pid: number;
  replicas: Replica[];
  /** The owner's URLs, with credentials. */
  stores: { postgres: string; nats: string; redis: string | null };
  store_pids: Partial<Record<"postgres" | "nats" | "redis", number>>;
}

export function clusterFileOf(directory: string): string {
  return join(directory, "run/cluster.json");
}

/** Replaces the file as a whole. Only its owner may read it. */
export function writeClusterFile(directory: string, state: ClusterState): void {
  const path = clusterFileOf(directory);
  writeFileSync(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** The file's content; null without one. */
export function readClusterFile(directory: string): ClusterState | null {
  try {
    return JSON.parse(readFileSync(clusterFileOf(directory), "utf8")) as ClusterState; // written by writeClusterFile
  } catch {
    return null;
  }
}

/** Removes the file, if it exists. */
export function removeClusterFile(directory: string): void {
  rmSync(clusterFileOf(directory), { force: true });
}
