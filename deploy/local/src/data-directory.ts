import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Dirent } from "node:fs";
import { aboutInstallation, installationFile } from "./installation.ts";
import { lockFolder } from "./instance-lock.ts";
import { StartupError } from "./startup-error.ts";

const installation = basename(installationFile(""));

/** All that a run makes in its data directory. */
export const ownEntries: ReadonlySet<string> = new Set([
  installation,
  `${installation}.new`,
  "log",
  "nats",
  "postgres",
  "redis",
  lockFolder,
]);

/** What else is in a data directory, by name. */
export function othersIn(dataDirectory: string): string[] {
  return entriesOf(dataDirectory).flatMap(({ name }) => (ownEntries.has(name) ? [] : [name]));
}

/**
 * Refuses a folder that is in use for something else: one that holds other things and no installation. What a mount or
 * a redirected output puts there does not count. Throws StartupError.
 */
export function refuseForeign(dataDirectory: string): void {
  const entries = entriesOf(dataDirectory);
  if (entries.some(({ name }) => name === installation)) return;
  const foreign = entries.find((entry) => !ownEntries.has(entry.name) && !isHarmless(entry));
  if (foreign === undefined) return;
  throw new StartupError(
    `${dataDirectory} holds ${foreign.name} and no installation of Coffer: ` +
      "set COFFER_DATA_DIR to a new or an empty folder",
  );
}

/** Whether anything of an installation is in a folder, besides the lock. */
export function hasInstallation(dataDirectory: string): boolean {
  return entriesOf(dataDirectory).some(({ name }) => name !== lockFolder && ownEntries.has(name));
}

/** Whether nothing is in a folder, or there is none. */
export function isEmpty(dataDirectory: string): boolean {
  return entriesOf(dataDirectory).length === 0;
}

/**
 * Removes the installation that a start has made which came to nothing, in a folder that it has locked, unless something
 * else is there by now: a store's data needs its password. Returns what removes the lock's folder once the lock is gone.
 */
export function takeBack(dataDirectory: string): () => void {
  if (entriesOf(dataDirectory).some(({ name }) => name !== installation && name !== lockFolder)) return () => undefined;
  const stores = aboutInstallation(dataDirectory)?.stores;
  if (typeof stores === "string" && existsSync(stores)) return () => undefined;
  rmSync(installationFile(dataDirectory), { force: true });
  return () => {
    try {
      rmdirSync(join(dataDirectory, lockFolder));
    } catch {
      // Another start has it by now.
    }
  };
}

function isHarmless(entry: Dirent): boolean {
  return entry.name === "lost+found" || (entry.isFile() && /\.(log|out|pid)$/.test(entry.name));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
