import { exitCodeFor, exitCodes, Failure } from "./failure.ts";
import { concealSecretWords } from "./output/concealed.ts";
import { printNotice, visible } from "./output/output.ts";

/**
 * Runs the command line and sets `process.exitCode`. Data goes to stdout, everything else to
 * stderr. Never throws.
 */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on("error", endBecause);
  // An error of stderr cannot be reported.
  process.stderr.on("error", () => undefined);
  concealSecretWords([...argv, ...argv.map(visible)]);
  try {
    if (argv[0] === "scan" && (await runPlainScan(argv.slice(1)))) return;
    const { runProgram } = await import("./program.ts");
    await runProgram(argv);
  } catch (error) {
    const { explain } = await import("./output/explain.ts");
    // Only Failure messages have several lines, in which names are escaped one by one.
    for (const line of explain(error))
      for (const each of error instanceof Failure ? `coffer: ${line}`.split("\n") : [`coffer: ${line}`])
        printNotice(each);
    process.exitCode = exitCodeFor(error);
  }
}

/**
 * Runs `coffer scan` when its words are plain, and returns whether it did. A hook calls it at each
 * commit, and loading commander and all other commands takes as long as the scan.
 */
async function runPlainScan(words: readonly string[]): Promise<boolean> {
  const { plainScan } = await import("./rows/scan.ts");
  const run = plainScan(words);
  if (run === null) return false;
  await run(process.env);
  return true;
}

/**
 * Handles a closed output: silently when the reader has ended, as `head` does; otherwise with a
 * message.
 */
function endBecause(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") printNotice(`coffer: the output cannot be written: ${error.code ?? error.message}`);
  process.exit(exitCodes.failure);
}
