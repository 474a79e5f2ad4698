import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { locate, startPostgres, temporaryDirectory, withoutDurability } from "@coffer/stores";
import { catalogue } from "./catalogue.ts";
import { checkTypes } from "./check-types.ts";
import { misfits } from "./misfits.ts";
import { type Options, readOptions, usage, UsageError } from "./options.ts";
import { testEnvironment } from "./test-environment.ts";
import { tryMutants } from "./try-mutants.ts";

const checkout = resolve(import.meta.dirname, "../../../..");
const out = (line: string): unknown => process.stdout.write(`${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  let options: Options | null;
  try {
    options = readOptions(args, catalogue);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`coffer: ${error.message}\n${usage}`);
    return 2;
  }
  if (options === null) process.stdout.write(usage);
  else if (options.list) for (const { name, file } of options.mutants) out(`${name}  ${file}`);
  else return tryAll(options);
  return 0;
}

async function tryAll({ mutants, jobs }: Options): Promise<number> {
  if (refused("MISFIT", misfits(checkout, mutants))) return 1;
  const ending = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]) process.on(name, () => ending.abort());
  const { signal } = ending;
  for (const program of ["nats-server", "redis-server"] as const) await locate(program, { report: out });
  const scratch = temporaryDirectory("coffer-mutants-");
  try {
    if (refused("UNTYPED", await checkTypes(checkout, scratch, mutants, signal))) return 1;
    const tests = join(scratch, "tests");
    mkdirSync(tests);
    const postgres = await startPostgres({ directory: join(scratch, "postgres"), settings: withoutDurability });
    try {
      const environment = testEnvironment(tests, postgres.url);
      const tally = await tryMutants({ checkout, scratch, mutants, environment, jobs, out, signal });
      if (signal.aborted) out("ended early");
      const untried = tally.untried === 0 ? "" : `, ${tally.untried} not tried`;
      out(`${tally.caught} caught, ${tally.survived} survived${untried}`);
      return tally.caught === mutants.length ? 0 : 1;
    } finally {
      await postgres.stop();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
    if (process.connected) process.disconnect();
  }
}

/** The reason why a run is pointless, if there is one. */
function refused(word: string, lines: readonly string[]): boolean {
  for (const line of lines) out(`${word}  ${line}`);
  return lines.length > 0;
}

process.exitCode = await main(process.argv.slice(2));
