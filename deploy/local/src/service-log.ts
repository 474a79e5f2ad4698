import { existsSync, mkdirSync, openSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";

const rotateBytes = 16 * 1024 * 1024;

/** The log file of a service, below the data directory. One that has grown large is put aside first. */
export function logFile(dataDirectory: string, name: string): string {
  const folder = join(dataDirectory, "log");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.log`);
  if (existsSync(path) && statSync(path).size > rotateBytes) renameSync(path, `${path}.1`);
  return path;
}

/** Opens it to be written at its end. Returns the descriptor. */
export function openLog(path: string): number {
  return openSync(path, "a", 0o600);
}
