import { hash } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, startOf } from "@coffer/stores";
import { makeFolder } from "./make-folder.ts";
import { readRunFile } from "../run-file.ts";
import { StartupError } from "../startup-error.ts";

/** The folder below the data directory that belongs to the running process: the lock and coffer.json. */
export const lockFolder = "run";

interface Holder {
  pid: number;
  /** The start time of that process, because ids are reused. */
  started: string | null;
}

/**
 * Locks the data directory for this process. Returns the function that unlocks it. Ignores a lock of an
 * ended process. Throws StartupError naming the running process.
 */
export function takeLock(dataDirectory: string): () => void {
  const folder = join(dataDirectory, lockFolder);
  makeFolder(folder);
  const lock = join(folder, "lock");
  const own = join(folder, `lock.${process.pid}`);
  const me: Holder = { pid: process.pid, started: startOf(process.pid) };
  writeFileSync(own, JSON.stringify(me), { mode: 0o600 });
  try {
    take(lock, own, dataDirectory);
  } finally {
    rmSync(own, { force: true });
  }
  return () => rmSync(lock, { force: true });
}

/**
 * Makes `lock` a link to `own`, if there is none or one of an ended process. Throws StartupError otherwise.
 */
function take(lock: string, own: string, dataDirectory: string): void {
  // A link appears with its content and only if there is none, so two processes never both hold it.
  while (!link(own, lock)) {
    const found = read(lock);
    if (found === null) continue;
    refuseLiving(found, dataDirectory);
    // Another process may take it between the check and the replacement. So a process that replaces this
    // very content holds a lock on that, and checks again.
    const replacement = `${lock}.${hash("sha256", found).slice(0, 16)}`;
    take(replacement, own, dataDirectory);
    try {
      if (read(lock) !== found) continue;
      const next = `${own}.next`;
      linkSync(own, next);
      renameSync(next, lock);
      return;
    } finally {
      rmSync(replacement, { force: true });
    }
  }
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

function refuseLiving(found: string, dataDirectory: string): void {
  const holder = holderIn(found);
  if (holder === null || !isAlive(holder.pid) || startOf(holder.pid) !== holder.started) return;
  const url = readRunFile(dataDirectory)?.url;
  throw new StartupError(
    `already running: process ${holder.pid}${url === undefined ? "" : ` at ${url}`} uses ${dataDirectory}`,
  );
}

function holderIn(content: string): Holder | null {
  try {
    return JSON.parse(content) as Holder; // written by takeLock
  } catch {
    return null;
  }
}

function read(lock: string): string | null {
  try {
    return readFileSync(lock, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
