import { fileURLToPath } from "node:url";
import { connect } from "./connection.ts";
import { type Options, readOptions, usage, UsageError } from "./options.ts";
import { CaseFileError, chooseCases, readCases } from "./read-cases.ts";
import { startReceiver } from "./receiver.ts";
import { type Result, runCases } from "./run-cases.ts";

const directory = fileURLToPath(new URL("../../../../docs/spec/cases/", import.meta.url));

/** Runs the requested cases. Exit code: 0, 1 if one failed, 2 for a wrong command line. */
async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options === null) {
      process.stdout.write(usage);
      return 0;
    }
    return await runAll(options);
  } catch (error) {
    if (error instanceof UsageError || error instanceof CaseFileError) {
      process.stderr.write(`cases: ${error.message}\n`);
      if (error instanceof UsageError) process.stderr.write(`\n${usage}`);
      return 2;
    }
    process.stderr.write(`cases: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

async function runAll({ url, audience, receiver: listening, forwarded, json, names }: Options): Promise<number> {
  const { shop, cases } = await readCases(directory);
  const results: Result[] = [];
  const receiver = listening === undefined ? undefined : await startReceiver(listening);
  try {
    await runCases({
      receiver,
      connection: connect({ url, forwarded, onWait: (seconds) => process.stderr.write(`waiting ${seconds} s\n`) }),
      audience,
      // An empty variable counts as unset.
      stripeSecret: process.env["COFFER_STRIPE_WEBHOOK_SECRETS"]?.split(",")[0]?.trim() || undefined,
      shop,
      cases: chooseCases(cases, names),
      onResult: (result) => {
        results.push(result);
        if (!json) process.stdout.write(lineOf(result));
      },
    });
  } finally {
    await receiver?.close();
  }
  const count = (outcome: Result["outcome"]): number => results.filter((result) => result.outcome === outcome).length;
  const [passed, failed, skipped] = [count("passed"), count("failed"), count("skipped")];
  if (json) process.stdout.write(`${JSON.stringify({ url, passed, failed, skipped, results }, null, 2)}\n`);
  else process.stdout.write(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}\n`);
  return failed === 0 ? 0 : 1;
}

function lineOf({ name, outcome, reason }: Result): string {
  return `${outcome.padEnd(7)} ${name}${reason === undefined ? "" : `: ${reason}`}\n`;
}

process.exitCode = await main(process.argv.slice(2));
