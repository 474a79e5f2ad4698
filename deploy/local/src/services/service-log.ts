import { existsSync, openSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../data/make-folder.ts";

const rotateBytes = 16 * 1024 * 1024;

/** The log file of a service, below the data directory. A large one is renamed first. */
export function logFile(dataDirectory: string, name: string): string {
  const folder = join(dataDirectory, "log");
  makeFolder(folder);
  const path = join(folder, `${name}.log`);
  if (existsSync(path) && statSync(path).size > rotateBytes) renameSync(path, `${path}.1`);
  return path;
}

/** Opens it to be written at its end. Returns the descriptor. */
export function openLog(path: string): number {
  return openSync(path, "a", 0o600);
}
