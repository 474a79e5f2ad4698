import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ConfigurationError, readEnvironment } from "@coffer/env";
import { ServiceError } from "@coffer/errors";
import { MigrationRefused, QueryFailure } from "@coffer/postgres";

export interface MigrationProgram {
  /** The service's schema. */
  schema: string;
  /** Brings the schema up to date; returns the names of the migrations that it applied. */
  migrateService: (options: { url: string }) => Promise<readonly string[]>;
}

const usage = "usage, with COFFER_POSTGRES_URL or COFFER_POSTGRES_URL_FILE: migrate-main.ts [--wait SECONDS]\n";
const defaultWaitSeconds = 60;

/**
 * Runs a migration as a process. Reads `COFFER_POSTGRES_URL`, the URL of the service's own role,
 * and waits up to `--wait` seconds (default 60) for Postgres. Prints what it applied and exits with 0;
 * with 1 and the reason on stderr if the schema is not up to date; with 2 for a wrong argument.
 * Concurrent runs wait for each other's lock.
 */
export async function runMigration(program: MigrationProgram): Promise<void> {
  // PID 1 of a container has no default signal handlers.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      process.stderr.write(`migrate: stopped by ${signal}\n`);
      process.exit(1);
    });
  }
  process.exitCode = await migrationExitCode(program);
}

async function migrationExitCode({ schema, migrateService }: MigrationProgram): Promise<number> {
  const waitSeconds = readWaitSeconds(process.argv.slice(2));
  if (waitSeconds === null) {
    process.stderr.write(usage);
    return 2;
  }
  try {
    const { COFFER_POSTGRES_URL: url } = readEnvironment(process.env, ["COFFER_POSTGRES_URL"]);
    if (url === undefined) throw new ConfigurationError(["COFFER_POSTGRES_URL is required"]);
    process.stderr.write(`migrate: schema ${schema}: connecting to Postgres\n`);
    const applied = await whileUnavailable(() => migrateService({ url }), waitSeconds);
    process.stdout.write(`${summary(schema, applied)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`migrate: schema ${schema}: ${reasonOf(error)}\n`);
    return 1;
  }
}

function readWaitSeconds(args: string[]): number | null {
  try {
    const { wait = String(defaultWaitSeconds) } = parseArgs({ args, options: { wait: { type: "string" } } }).values;
    return /^\d{1,5}$/.test(wait) ? Number(wait) : null;
  } catch {
    return null; // parseArgs throws for unknown arguments
  }
}

/** Retries while Postgres is unavailable, and logs that once. No attempt starts after the wait. */
async function whileUnavailable<T>(work: () => Promise<T>, waitSeconds: number): Promise<T> {
  const end = Date.now() + waitSeconds * 1000;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === "unavailable") || Date.now() >= end) throw error;
      if (attempt === 1)
        process.stderr.write(`migrate: waiting up to ${waitSeconds} s for Postgres: ${reasonOf(error)}\n`);
    }
    await pause(Math.max(0, Math.min(1000, end - Date.now())));
  }
}

function summary(schema: string, applied: readonly string[]): string {
  if (applied.length === 0) return `schema ${schema}: up to date, nothing applied`;
  return `schema ${schema}: ${applied.length} applied: ${applied.join(" ")}`;
}

/**
 * The reason as text. Expected errors quote no value; any other error is a bug and has its stack.
 */
function reasonOf(error: unknown): string {
  if (error instanceof ServiceError) return error.cause instanceof Error ? error.cause.message : error.message;
  if (error instanceof ConfigurationError || error instanceof MigrationRefused || error instanceof QueryFailure)
    return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
