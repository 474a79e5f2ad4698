import { type Dirent, existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { aboutInstallation, installationFile } from "./installation.ts";
import { lockFolder } from "./instance-lock.ts";
import { StartupError } from "../startup-error.ts";

const installation = basename(installationFile(""));

/** All files of a run in its data directory. */
export const ownEntries: ReadonlySet<string> = new Set([
  installation,
  `${installation}.new`,
  "log",
  "nats",
  "postgres",
  "redis",
  lockFolder,
]);

/** The other content of a data directory, by name. */
export function othersIn(dataDirectory: string): string[] {
  return entriesOf(dataDirectory).flatMap(({ name }) => (ownEntries.has(name) ? [] : [name]));
}

/**
 * Refuses a folder that is used for something else: one with other content and no installation. Ignores
 * the files of a mount or a redirected output. Throws StartupError.
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

/** Whether a folder has any part of an installation, besides the lock. */
export function hasInstallation(dataDirectory: string): boolean {
  return entriesOf(dataDirectory).some(({ name }) => name !== lockFolder && ownEntries.has(name));
}

/** Whether a folder is empty or absent. */
export function isEmpty(dataDirectory: string): boolean {
  return entriesOf(dataDirectory).length === 0;
}

/**
 * Removes the installation of a failed first start, in a folder that it has locked, unless it has other
 * content by now: a store's data needs its password. Returns a function that removes the lock's folder.
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
      // Another start owns it by now.
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
