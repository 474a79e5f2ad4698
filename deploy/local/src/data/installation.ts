import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "@coffer/events";
import { makeFolder } from "./make-folder.ts";
import { StartupError } from "../startup-error.ts";

/**
 * The format of a data directory: another number if this version cannot use the data of the one before.
 * A directory without a number has format 1.
 */
export const dataFormat = 3;

/** Made once for a data directory: the passwords of its stores, and whether it has ever served. */
export interface Installation {
  readonly format: number;
  readonly createdAt: string;
  /** When all services answered for the first time. */
  readonly firstReadyAt: string | null;
  readonly postgres: Record<ServiceName, string>;
  readonly nats: Record<ServiceName, string>;
  /** Of each service's own user, and of the owner, who has all permissions. */
  readonly redis: Record<ServiceName | "owner", string>;
  /** The key that seals the credentials of SIEM endpoints, unless COFFER_SIEM_KEYS has others. */
  readonly siemKey: string;
  /** The folder of the stores' files; null if it is the data directory itself. */
  readonly stores: string | null;
}

/** The file that makes a folder a data directory of Coffer. */
export function installationFile(dataDirectory: string): string {
  return join(dataDirectory, "installation.json");
}

/**
 * Reads the installation of a data directory, or makes folder, passwords and file (0600); `stores` is the
 * folder of a new one's stores. Throws StartupError for a file without an installation, or a data
 * directory of another format.
 */
export function openInstallation(dataDirectory: string, stores: string | null = null): Installation {
  const path = installationFile(dataDirectory);
  if (existsSync(path)) return read(path, dataDirectory);
  makeFolder(dataDirectory);
  const password = (): string => randomBytes(24).toString("base64url");
  const each = (): Record<ServiceName, string> =>
    Object.fromEntries(serviceNames.map((name) => [name, password()])) as Record<ServiceName, string>; // one each
  const made: Installation = {
    format: dataFormat,
    createdAt: new Date().toISOString(),
    firstReadyAt: null,
    postgres: each(),
    nats: each(),
    redis: { ...each(), owner: password() },
    siemKey: newSiemKey(),
    stores,
  };
  write(path, made);
  return made;
}

/** A new key that seals credentials: 32 bytes in base64url. */
function newSiemKey(): string {
  return randomBytes(32).toString("base64url");
}

/** Stores the sealing key of a backup in an installation that was made for it. */
export function setSiemKey(dataDirectory: string, installation: Installation, siemKey: string): Installation {
  const changed = { ...installation, siemKey };
  write(installationFile(dataDirectory), changed);
  return changed;
}

/** The content of a data directory's file, of any format; null without a readable one. */
export function aboutInstallation(dataDirectory: string): Partial<Installation> | null {
  try {
    const found: unknown = JSON.parse(readFileSync(installationFile(dataDirectory), "utf8"));
    return typeof found === "object" ? found : null;
  } catch {
    return null;
  }
}

/** Records that all services answered for the first time. */
export function noteFirstReady(dataDirectory: string, installation: Installation): void {
  write(installationFile(dataDirectory), { ...installation, firstReadyAt: new Date().toISOString() });
}

function read(path: string, dataDirectory: string): Installation {
  const found = parse(path);
  const format = formatOf(found);
  if (format !== null && format !== dataFormat) throw otherFormat(dataDirectory, format);
  // Written below, 0600. A missing property means that the file was changed since.
  const { postgres, nats, redis, stores } = (found ?? {}) as Partial<Installation>;
  const passwords = [postgres, nats, redis].flatMap((each) => serviceNames.map((name) => each?.[name]));
  if ([redis?.owner, ...passwords].every((password) => typeof password === "string")) {
    const { siemKey } = found as Partial<Installation>;
    const installation = { ...(found as Installation), stores: stores ?? null };
    // Made before there was such a key.
    return siemKey === undefined ? setSiemKey(dataDirectory, installation, newSiemKey()) : installation;
  }
  throw new StartupError(
    `${path} does not hold the passwords of this data directory's stores, as it should. Restore it from a backup, ` +
      "or empty the data directory with npm start -- --reset",
  );
}

/** The content of the file; null if it is not JSON, since the parser's message would quote a password. */
function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof Error && "path" in error) throw error;
    return null;
  }
}

/** The format of an installation; null for other content. */
function formatOf(found: unknown): number | null {
  if (typeof found !== "object" || found === null) return null;
  if ("format" in found) return typeof found.format === "number" ? found.format : null;
  return "createdAt" in found && "postgres" in found && "nats" in found ? 1 : null;
}

function otherFormat(dataDirectory: string, format: number): StartupError {
  const [made, advice] =
    format < dataFormat
      ? ["an earlier version of Coffer", "empty it with npm start -- --reset"]
      : ["a later version of Coffer", "start it with that version, or empty it with npm start -- --reset"];
  return new StartupError(
    `${dataDirectory} was made by ${made}: its format is ${format}, this version needs ${dataFormat}; ${advice}`,
  );
}

function write(path: string, installation: Installation): void {
  // On the disk before it replaces the other: after a power cut there is one of them, never an empty file.
  writeFileSync(`${path}.new`, `${JSON.stringify(installation, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}
