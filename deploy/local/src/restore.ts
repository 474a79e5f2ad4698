import { closeSync } from "node:fs";
import { startPostgres } from "@coffer/stores";
import { join } from "node:path";
import { isConfirmed } from "./confirm.ts";
import { readFileArguments } from "./backup/arguments.ts";
import { openBackup, type OpenedBackup } from "./backup/backup-file.ts";
import { fillPostgres } from "./backup/fill-postgres.ts";
import { report, runCommand } from "./backup/main.ts";
import { openInput } from "./backup/open-input.ts";
import { requireOwnPostgres } from "./backup/owned-postgres.ts";
import { servicesOf } from "./backup/services-of.ts";
import { becomeOwner } from "./data/become-owner.ts";
import { hasInstallation, refuseForeign } from "./data/data-directory.ts";
import { noteFirstReady, openInstallation, setSiemKey } from "./data/installation.ts";
import { takeLock } from "./data/instance-lock.ts";
import { schemaOwners } from "./data/local-stores.ts";
import { resetDataDirectory } from "./data/reset.ts";
import type { ServiceMigration } from "./services/services.ts";
import { readSettings } from "./settings.ts";
import { choosePlace, openPlace } from "./data/stores-place.ts";
import { aboutDataDirectory, StartupError } from "./startup-error.ts";

const usage = `npm run restore -- FILE          puts a backup into a new or an empty data directory
npm run restore -- FILE --yes    removes the content of the data directory first, without confirmation
npm run restore -- --help        prints this

The data directory is COFFER_DATA_DIR (default: .coffer in the checkout); Coffer must not run there. docs/backup.md says
what clients say afterwards.
`;

const afterwards =
  "start it with npm start. Devices sync everything again. Changes after the backup are lost: clients that saw them say " +
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
      // An incomplete restore is useless.
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
    report("putting the backup into it");
    await fillPostgres(store, { header, items, services, owners: schemaOwners(installation) });
  } finally {
    await store.stop();
  }
  if (header.first_ready_at !== null) noteFirstReady(dataDirectory, installation);
}

async function confirm(dataDirectory: string): Promise<void> {
  const holds = `${dataDirectory} holds an installation`;
  if (!process.stdin.isTTY)
    throw new StartupError(`${holds}, which a restore replaces: add --yes, or set COFFER_DATA_DIR to a new folder`);
  if (!(await isConfirmed(`${holds}. Remove it and all its data?`))) throw new StartupError("nothing was changed");
}

await runCommand(main);
