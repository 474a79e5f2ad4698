import { closeSync, openSync } from "node:fs";
import { migrate, migrationChecksums } from "@coffer/postgres";
import { prepareDatabase, startPostgres, writeDatabase } from "@coffer/stores";
import { join } from "node:path";
import { askYes } from "./ask-yes.ts";
import { readFileArguments } from "./backup/arguments.ts";
import { openBackup } from "./backup/backup-file.ts";
import type { BackupHeader, OpenedBackup } from "./backup/backup-file.ts";
import { report, runCommand } from "./backup/main.ts";
import { databaseAddress, databaseName, requireOwnPostgres } from "./backup/owned-postgres.ts";
import { becomeOwner } from "./become-owner.ts";
import { hasInstallation, refuseForeign } from "./data-directory.ts";
import { dataFormat, noteFirstReady, openInstallation, setSiemKey } from "./installation.ts";
import { takeLock } from "./instance-lock.ts";
import { schemaOwners } from "./local-stores.ts";
import { resetDataDirectory } from "./reset.ts";
import { allServices, loadMigration, presentServices } from "./services.ts";
import type { ServiceMigration } from "./services.ts";
import { readSettings } from "./settings.ts";
import { choosePlace, openPlace } from "./stores-place.ts";
import { aboutDataDirectory, StartupError } from "./startup-error.ts";

const usage = `npm run restore -- FILE          puts a backup into a new or an empty data directory
npm run restore -- FILE --yes    removes what is in the data directory first, without asking
npm run restore -- --help        prints this

The data directory is COFFER_DATA_DIR (default: .coffer in the checkout); Coffer must not run there. docs/backup.md says
what clients say afterwards.
`;

const afterwards =
  "start it with npm start. Devices get everything again. What changed after the backup is gone: clients that saw it say " +
  "so until people run coffer folder trust, coffer org trust or coffer keyring trust: announce it (docs/backup.md)";

async function main(): Promise<void> {
  const { file, yes, help } = readFileArguments(process.argv.slice(2), ["--yes", "--help", "-h"]);
  if (help) return void process.stdout.write(usage);
  if (file === null) throw new StartupError("which backup? npm run restore -- FILE");
  const settings = readSettings(process.env);
  requireOwnPostgres(settings);
  const input = openInput(file);
  try {
    const backup = await openBackup(input, file);
    const services = await servicesOf(backup.header, file);
    await restore(settings.COFFER_DATA_DIR, { backup, services, yes });
  } catch (error) {
    throw aboutDataDirectory(error, settings.COFFER_DATA_DIR);
  } finally {
    closeSync(input);
  }
}

interface Restored {
  backup: OpenedBackup;
  services: readonly ServiceMigration[];
  yes: boolean;
}

async function restore(dataDirectory: string, { backup, services, yes }: Restored): Promise<void> {
  const owner = becomeOwner(dataDirectory);
  if (owner !== null) report(`${dataDirectory} belongs to user ${owner}: going on as that user`);
  refuseForeign(dataDirectory);
  const unlock = takeLock(dataDirectory);
  try {
    if (hasInstallation(dataDirectory)) {
      if (!yes) await confirm(dataDirectory);
      await resetDataDirectory(dataDirectory, true);
    }
    try {
      await load(dataDirectory, backup, services);
    } catch (error) {
      // A part of a backup is of no use to anybody.
      await resetDataDirectory(dataDirectory, true);
      throw error;
    }
  } finally {
    unlock();
  }
  const { version, created_at: createdAt } = backup.header;
  process.stdout.write(`${backup.rows} rows of ${createdAt} (Coffer ${version}) are in ${dataDirectory}\n`);
  report(afterwards);
}

async function load(dataDirectory: string, { header, items }: OpenedBackup, services: readonly ServiceMigration[]) {
  const made = openInstallation(dataDirectory, choosePlace(dataDirectory));
  const installation = header.siem_key === undefined ? made : setSiemKey(dataDirectory, made, header.siem_key);
  const place = openPlace(dataDirectory, installation.stores);
  report("making the Postgres data directory");
  const store = await startPostgres({ directory: join(place, "postgres") });
  try {
    const { urls } = await prepareDatabase({
      url: store.url,
      database: databaseName,
      owners: schemaOwners(installation),
      extensions: ["pg_trgm"],
    });
    // As it was when the backup was made; the next start applies what has been added since.
    for (const { schema, migrations } of services)
      await migrate({
        ...migrations,
        url: urls[schema] ?? "",
        schema,
        only: new Set(Object.keys(header.migrations[schema] ?? {})),
      });
    report("putting the backup into it");
    const schemas = services.map(({ schema }) => schema);
    await writeDatabase(databaseAddress(store), schemas, items());
  } finally {
    await store.stop();
  }
  if (header.first_ready_at !== null) noteFirstReady(dataDirectory, installation);
}

/** The services whose data a backup holds. Throws StartupError for one of another version. */
async function servicesOf(header: BackupHeader, file: string): Promise<ServiceMigration[]> {
  const other = (what: string): StartupError =>
    new StartupError(
      `${file} was made by another version of Coffer (${header.version}): ${what}; restore it with that version`,
    );
  if (header.data_format !== dataFormat) throw other(`its data has format ${header.data_format}, not ${dataFormat}`);
  const present = new Set(presentServices().map(({ schema }) => schema));
  const services: ServiceMigration[] = [];
  for (const [schema, migrations] of Object.entries(header.migrations)) {
    const row = allServices.find((each) => each.schema === schema);
    if (row === undefined || !present.has(schema)) throw other(`this one has no schema ${schema}`);
    const loaded = await loadMigration(row);
    const known = await migrationChecksums(loaded.migrations);
    const odd = Object.entries(migrations).find(([name, checksum]) => known.get(name) !== checksum);
    if (odd !== undefined) throw other(`this one has no such migration ${odd[0]} of ${schema}`);
    services.push(loaded);
  }
  return services;
}

function openInput(file: string): number {
  try {
    return openSync(file, "r");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = { ENOENT: "there is no such file", EACCES: "this user may not read it" };
    throw new StartupError(`cannot read ${file}: ${reasons[code ?? ""] ?? code ?? String(error)}`, { cause: error });
  }
}

async function confirm(dataDirectory: string): Promise<void> {
  const holds = `${dataDirectory} holds an installation`;
  if (!process.stdin.isTTY)
    throw new StartupError(`${holds}, which a restore replaces: add --yes, or set COFFER_DATA_DIR to a new folder`);
  if (!(await askYes(`${holds}. Remove it and all its data?`))) throw new StartupError("nothing was changed");
}

await runCommand(main);
