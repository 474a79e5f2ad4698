import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serviceNames } from "@coffer/events";
import type { ServiceName } from "@coffer/events";
import { StartupError } from "./startup-error.ts";

/** What is made once for a data directory: the passwords of its stores, and whether it has ever served. */
export interface Installation {
  readonly createdAt: string;
  /** When everything answered for the first time. */
  readonly firstReadyAt: string | null;
  readonly postgres: Record<ServiceName, string>;
  readonly nats: Record<ServiceName, string>;
  readonly redis: string;
}

/** The file that makes a folder a data directory of Coffer. */
export function installationFile(dataDirectory: string): string {
  return join(dataDirectory, "installation.json");
}

/**
 * Reads the installation of a data directory, or makes folder, passwords and file (0600). Throws StartupError when
 * there is a file that holds no installation.
 */
export function openInstallation(dataDirectory: string): Installation {
  const path = installationFile(dataDirectory);
  if (existsSync(path)) return read(path);
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const password = (): string => randomBytes(24).toString("base64url");
  const each = (): Record<ServiceName, string> =>
    Object.fromEntries(serviceNames.map((name) => [name, password()])) as Record<ServiceName, string>; // one each
  const made: Installation = {
    createdAt: new Date().toISOString(),
    firstReadyAt: null,
    postgres: each(),
    nats: each(),
    redis: password(),
  };
  write(path, made);
  return made;
}

/** Notes that everything answered for the first time. */
export function noteFirstReady(dataDirectory: string, installation: Installation): void {
  write(installationFile(dataDirectory), { ...installation, firstReadyAt: new Date().toISOString() });
}

function read(path: string): Installation {
  try {
    // Written below, 0600. What is looked at here throws, or is no text, in a file that was changed since.
    const found = JSON.parse(readFileSync(path, "utf8")) as Installation;
    const passwords = serviceNames.flatMap((name) => [found.postgres[name], found.nats[name]]);
    if ([found.redis, ...passwords].every((password) => typeof password === "string")) return found;
  } catch (error) {
    // What else is wrong with it is the same to whoever starts this; the parser's words would quote a password.
    if (error instanceof Error && "path" in error) throw error;
  }
  throw new StartupError(
    `${path} does not hold the passwords of this data directory's stores, as it should. Restore it from a backup, ` +
      "or empty the data directory with npm start -- --reset",
  );
}

function write(path: string, installation: Installation): void {
  // On the disk before it takes the other's place: after a power cut there is one or the other, never an empty file.
  writeFileSync(`${path}.new`, `${JSON.stringify(installation, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}
