import { closeSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isAlive, readDatabase } from "@coffer/stores";
import { appliedChecksums } from "@coffer/postgres";
import { defaultFile, readFileArguments } from "./backup/arguments.ts";
import { backupFormat, type BackupHeader, writeBackup } from "./backup/backup-file.ts";
import { report, runCommand } from "./backup/main.ts";
import { databaseAddress, givenPostgres, requireOwnPostgres, startOwnPostgres } from "./backup/owned-postgres.ts";
import { becomeOwner } from "./data/become-owner.ts";
import { checkout } from "./checkout.ts";
import { aboutInstallation, dataFormat, openInstallation } from "./data/installation.ts";
import { takeLock } from "./data/instance-lock.ts";
import { readRunFile } from "./run-file.ts";
import { presentServices } from "./services/services.ts";
import { readSettings } from "./settings.ts";
import { aboutDataDirectory, StartupError } from "./startup-error.ts";

const usage = `npm run backup                writes coffer-<time>.backup in this folder
npm run backup -- FILE        writes FILE, which must not exist
npm run backup -- --help      prints this

It backs up the installation of COFFER_DATA_DIR (default: .coffer in the checkout), running or not. docs/backup.md says
what is in the file and how to restore it.
`;

const warning =
  "it holds ciphertext, hashed tokens, e-mail addresses, names and the server's keys: its holder can pretend to be " +
  "this server and try passwords. Store it as safely as the server, on another machine (docs/backup.md)";

async function main(): Promise<void> {
  const { file, help } = readFileArguments(process.argv.slice(2), ["--help", "-h"]);
  if (help) return void process.stdout.write(usage);
  const settings = readSettings(process.env);
  const path = file ?? defaultFile(new Date());
  try {
    requireOwnPostgres(settings);
    await backUp(settings.COFFER_DATA_DIR, path);
  } catch (error) {
    throw aboutFile(aboutDataDirectory(error, settings.COFFER_DATA_DIR), path);
  }
}

async function backUp(dataDirectory: string, path: string): Promise<void> {
  if (aboutInstallation(dataDirectory) === null)
    throw new StartupError(`${dataDirectory} holds no installation of Coffer: COFFER_DATA_DIR chooses another one`);
  const database = await openDatabase(dataDirectory);
  try {
    const output = openSync(path, "wx", 0o600);
    const undo = (): void => rmSync(path, { force: true });
    const stopped = (): void => {
      undo();
      process.exit(130);
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, stopped);
    try {
      const header = await headerOf(dataDirectory, database.url);
      const rows = await writeBackup(output, header, readDatabase(database.url, Object.keys(header.migrations)));
      report(`${rows} rows of ${dataDirectory} in ${sizeOf(statSync(path).size)}`);
    } catch (error) {
      undo();
      throw error;
    } finally {
      closeSync(output);
    }
  } finally {
    await database.close();
  }
  process.stdout.write(`${path}\n`);
  report(warning);
}

function sizeOf(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

interface OpenDatabase {
  url: string;
  close(): Promise<void>;
}

/** The database of the running installation, or of a stopped one, whose Postgres runs until `close`. */
async function openDatabase(dataDirectory: string): Promise<OpenDatabase> {
  const running = readRunFile(dataDirectory);
  if (running !== null && isAlive(running.pid)) {
    if (running.store_pids.postgres === undefined)
      throw givenPostgres(`${dataDirectory} runs with COFFER_POSTGRES_URL`);
    return { url: running.stores.postgres, close: () => Promise.resolve() };
  }
  const owner = becomeOwner(dataDirectory);
  if (owner !== null) report(`${dataDirectory} belongs to user ${owner}: going on as that user`);
  const unlock = takeLock(dataDirectory);
  try {
    openInstallation(dataDirectory);
    const store = await startOwnPostgres(dataDirectory);
    return {
      url: databaseAddress(store),
      close: async () => {
        await store.stop();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

async function headerOf(dataDirectory: string, url: string): Promise<BackupHeader> {
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { version: string }; // our own
  // The applied ones: the code of this checkout may be newer than the database.
  const schemas = presentServices().flatMap(({ schema }) => (schema === null ? [] : [schema]));
  const migrations = await Promise.all(
    schemas.map(async (schema) => [schema, Object.fromEntries(await appliedChecksums({ url, schema }))] as const),
  );
  const about = aboutInstallation(dataDirectory);
  return {
    coffer_backup: backupFormat,
    version,
    created_at: new Date().toISOString(),
    data_format: dataFormat,
    first_ready_at: about?.firstReadyAt ?? null,
    ...(about?.siemKey === undefined ? {} : { siem_key: about.siemKey }),
    migrations: Object.fromEntries(migrations),
  };
}

function aboutFile(error: unknown, path: string): unknown {
  const { code, path: about } = error as NodeJS.ErrnoException; // an error of the file system; others match nothing
  const reasons: Record<string, string> = {
    EACCES: "this user may not write there",
    EEXIST: "it exists already; a backup never replaces a file",
    ENOENT: "the folder does not exist",
    ENOSPC: "the disk is full",
    EROFS: "the file system is read-only",
  };
  const reason = reasons[code ?? ""];
  if (reason === undefined || (about !== undefined && about !== path)) return error;
  return new StartupError(`cannot write ${path}: ${reason}`, { cause: error });
}

await runCommand(main);
