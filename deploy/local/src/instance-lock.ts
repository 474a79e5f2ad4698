import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, startOf } from "@coffer/stores";
import { readRunFile } from "./run-file.ts";
import { StartupError } from "./startup-error.ts";

/** The folder below the data directory that belongs to the running process: the lock and coffer.json. */
export const lockFolder = "run";

interface Holder {
  pid: number;
  /** When that process started, because ids are given out again. */
  started: string | null;
}

/**
 * Makes this process the only one that works with the data directory. Returns the function that ends that. What a
 * process that is gone has left does not count. Throws StartupError naming the process that runs.
 */
export function takeLock(dataDirectory: string): () => void {
  const folder = join(dataDirectory, lockFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = join(folder, "lock");
  const own = join(folder, `lock.${process.pid}`);
  const me: Holder = { pid: process.pid, started: startOf(process.pid) };
  writeFileSync(own, JSON.stringify(me), { mode: 0o600 });
  try {
    // A link appears with its content and only if there is none: no moment in which two believe to hold it.
    while (!link(own, lock)) removeStale(dataDirectory, lock);
  } finally {
    rmSync(own, { force: true });
  }
  return () => rmSync(lock, { force: true });
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function removeStale(dataDirectory: string, lock: string): void {
  const holder = readHolder(lock);
  if (holder !== null && isAlive(holder.pid) && startOf(holder.pid) === holder.started) {
    const url = readRunFile(dataDirectory)?.url;
    throw new StartupError(
      `already running: process ${holder.pid}${url === undefined ? "" : ` at ${url}`} uses ${dataDirectory}`,
    );
  }
  // Moved away first, so that of two who find it stale only one removes it.
  const aside = `${lock}.stale.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  rmSync(aside, { force: true });
}

function readHolder(lock: string): Holder | null {
  try {
    return JSON.parse(readFileSync(lock, "utf8")) as Holder; // written by takeLock
  } catch {
    return null;
  }
}
