import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { requireServers, startPostgres, temporaryDirectory, withoutDurability } from "@coffer/stores";
import { installChartTools } from "../../../chart/src/helm.ts";
import type { TapCount } from "./count-tap.ts";
import { leftovers } from "./leftovers.ts";
import { placesBelow, removeTree } from "../data/stores-place.ts";
import { runTap } from "./run-tap.ts";

/** The variables of each test: its writable folder, and the shared Postgres; `@coffer/testkit` reads both. */
const directoryVariable = "COFFER_TEST_DIRECTORY";
const postgresVariable = "COFFER_TEST_POSTGRES_URL";

export interface SuiteOptions {
  /** Test files, or none for all of .taprc. */
  files: readonly string[];
  out: (text: string) => unknown;
  /** Ends the run early, with everything that it has started. */
  signal: AbortSignal;
}

/**
 * Runs the tests on one shared Postgres and returns the counts. A process or folder that a test leaves
 * behind is a failure.
 */
export async function runSuite({ files, out, signal }: SuiteOptions): Promise<TapCount> {
  const report = (line: string): unknown => out(`${line}\n`);
  await requireServers(["postgres", "nats-server", "redis-server"], { report });
  // Before the tests: several files that run side by side would install them at once.
  if (files.length === 0) installChartTools(report);
  const root = temporaryDirectory("coffer-suite-");
  const scratch = temporaryDirectory("tests-", root);
  try {
    const postgres = await startPostgres({ directory: join(root, "postgres"), settings: withoutDurability });
    try {
      const environment = testEnvironment(scratch, postgres.url);
      const count = await runTap({ files, environment, out, signal });
      count.failed += await reportLeftovers(scratch, out);
      return count;
    } finally {
      await postgres.stop();
    }
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * The caller's environment without its configuration of Coffer and without the person's own files, which
 * would influence the tests.
 */
function testEnvironment(directory: string, postgresUrl: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^((COFFER|OTEL)_|XDG_CONFIG_HOME$)/.test(name));
  const home = join(directory, "home");
  mkdirSync(home);
  return {
    ...Object.fromEntries(own),
    HOME: home,
    TMPDIR: directory,
    [directoryVariable]: directory,
    [postgresVariable]: postgresUrl,
  };
}

async function reportLeftovers(directory: string, out: (text: string) => unknown): Promise<number> {
  const processes = await leftovers(directoryVariable, directory);
  for (const { pid, command } of processes) {
    out(`left behind by a test: process ${pid}: ${command}\n`);
    process.kill(pid, "SIGKILL");
  }
  const folders = readdirSync(directory).filter((name) => name.startsWith("coffer-"));
  for (const name of folders) out(`left behind by a test: folder ${name}\n`);
  const places = process.getuid?.() === 0 ? placesBelow(directory) : [];
  for (const place of places) {
    out(`left behind by a test: folder ${place}\n`);
    removeTree(place);
  }
  return processes.length + folders.length + places.length;
}
