import { loadDescription } from "@coffer/openapi";
import { type Installation, startInstallation } from "./installation.ts";
import { watchMemory } from "./memory.ts";
import { type Options, readOptions, usage, UsageError } from "./options.ts";
import { lineOf, shownFindings } from "./report.ts";
import { runFuzz } from "./run-fuzz.ts";

/** Runs the requested fuzz. Exit code: 0, 1 with findings, 2 for a wrong command line. */
async function main(args: readonly string[]): Promise<number> {
  let options: Options | null;
  try {
    options = readOptions(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`fuzz: ${error.message}\n\n${usage}`);
    return 2;
  }
  if (options === null) {
    process.stdout.write(usage);
    return 0;
  }
  if (options.url === undefined) return fuzzOwn(options);
  const stripeSecret = process.env["COFFER_STRIPE_WEBHOOK_SECRETS"]?.split(",")[0]?.trim() || undefined;
  return fuzz(options, { url: options.url, stripeSecret });
}

async function fuzzOwn(options: Options): Promise<number> {
  const installation = await startInstallation();
  try {
    return await fuzz(options, installation);
  } finally {
    await installation.close();
  }
}

/** The known parts of an installation. */
type Target = Pick<Installation, "url"> & Partial<Record<"managementUrl" | "stripeSecret", string | undefined>>;

async function fuzz(options: Options, { url, managementUrl, stripeSecret }: Target): Promise<number> {
  const { seed, count, first, only } = options;
  const description = loadDescription();
  const unknown = only.filter((id) => !description.operations.some((operation) => operation.id === id));
  if (unknown.length > 0) {
    process.stderr.write(`fuzz: no operation ${unknown.join(", ")} in docs/spec/api\n`);
    return 2;
  }
  process.stdout.write(`seed ${seed}, ${count} requests for each operation\n`);
  const memory = managementUrl === undefined ? undefined : watchMemory(managementUrl);
  const results = await runFuzz({
    url,
    description,
    seed,
    count,
    first,
    only,
    stripeSecret,
    ...(memory === undefined ? {} : { memory }),
    onDone: (result) => process.stdout.write(lineOf(result)),
  });
  const findings = results.flatMap((result) => result.findings);
  process.stdout.write(shownFindings(seed, findings));
  if (memory !== undefined) {
    const { early, late, resident } = memory.report();
    const [from, to, all] = [early, late, resident].map((mebibytes) => mebibytes.toFixed(0));
    process.stdout.write(`memory in use ${from} → ${to} MiB, resident ${all} MiB\n`);
  }
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  process.stdout.write(`${requests} requests, ${findings.length} findings\n`);
  return findings.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
