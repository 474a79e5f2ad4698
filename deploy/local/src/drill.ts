import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isAlive, startPostgres, temporaryDirectory, withoutDurability } from "@coffer/stores";
import { readFileArguments } from "./backup/arguments.ts";
import { openBackup, type OpenedBackup } from "./backup/backup-file.ts";
import { fillPostgres } from "./backup/fill-postgres.ts";
import { report, runCommand } from "./backup/main.ts";
import { openInput } from "./backup/open-input.ts";
import { databaseAddress } from "./backup/owned-postgres.ts";
import { servicesOf } from "./backup/services-of.ts";
import { checkout } from "./checkout.ts";
import { readRunFile } from "./run-file.ts";
import { allServices } from "./services/services.ts";
import { readSettings } from "./settings.ts";
import { StartupError } from "./startup-error.ts";

const usage = `npm run drill -- FILE          restores a backup in a temporary folder, verifies every audit chain and counts the rows
npm run drill -- --help        prints this

It changes no data. If the installation of COFFER_DATA_DIR runs, its metrics show the result. docs/operations/backup.md says
what is verified.
`;

/** The output of siem-forwarder's drill program. */
interface DrillOutput {
  backup_at: string;
  seconds: number;
  chains: number;
  records: number;
  rows: Record<string, number>;
  problem: string | null;
}

async function main(): Promise<void> {
  const { file, help } = readFileArguments(process.argv.slice(2), ["--help", "-h"]);
  if (help) return void process.stdout.write(usage);
  if (file === null) throw new StartupError("which backup? npm run drill -- FILE");
  const settings = readSettings(process.env);
  const startedAt = new Date();
  const input = openInput(file);
  try {
    await drill(await openBackup(input, file), { file, startedAt, dataDirectory: settings.COFFER_DATA_DIR });
  } finally {
    closeSync(input);
  }
}

interface Drill {
  file: string;
  startedAt: Date;
  dataDirectory: string;
}

async function drill({ header, items }: OpenedBackup, { file, startedAt, dataDirectory }: Drill): Promise<void> {
  const services = await servicesOf(header, file);
  const directory = temporaryDirectory("coffer-drill-");
  try {
    const store = await startPostgres({ directory: join(directory, "postgres"), settings: withoutDurability });
    try {
      report("restoring the backup in a temporary folder");
      const owners = allServices.flatMap(({ schema }) =>
        schema === null ? [] : [{ role: schema, schema, password: randomBytes(24).toString("base64url") }],
      );
      await fillPostgres(store, { header, items, services, owners });
      const about = join(directory, "drill.json");
      const schemas = Object.fromEntries(services.map(({ schema }) => [schema, {}]));
      writeFileSync(
        about,
        JSON.stringify({ created_at: header.created_at, started_at: startedAt.toISOString(), schemas }),
      );
      show(verify(databaseAddress(store), about, runningPostgres(dataDirectory)));
    } finally {
      await store.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The address of the running installation's Postgres; null if it does not run. */
function runningPostgres(dataDirectory: string): string | null {
  const running = readRunFile(dataDirectory);
  return running !== null && isAlive(running.pid) ? running.stores.postgres : null;
}

/** Runs siem-forwarder's drill program on the copy. Throws StartupError if it could not read it. */
function verify(copy: string, about: string, running: string | null): DrillOutput {
  const program = resolve(checkout, "services/siem-forwarder/src/drill-main.ts");
  const { COFFER_POSTGRES_URL: _given, ...inherited } = process.env;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [program, "--copy", copy, "--drill", about, ...(running === null ? ["--no-report"] : [])],
    { encoding: "utf8", env: { ...inherited, ...(running === null ? {} : { COFFER_POSTGRES_URL: running }) } },
  );
  if (stdout === "") throw new StartupError(stderr.trim());
  return JSON.parse(stdout) as DrillOutput; // of our own program
}

/** Prints the result. Throws StartupError if the copy is incomplete. */
function show({ backup_at: backupAt, seconds, chains, records, rows, problem }: DrillOutput): void {
  if (problem !== null) throw new StartupError(`the backup of ${backupAt} is not whole: ${problem}`);
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
  process.stdout.write(
    `the backup of ${backupAt} is whole: ${chains} audit chains with ${records} records, ${all} rows, ` +
      `in ${seconds.toFixed(1)} s\n`,
  );
}

await runCommand(main);
