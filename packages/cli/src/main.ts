import { CommanderError } from "commander";
import { concealSecretWords } from "./concealed.ts";
import { explain } from "./explain.ts";
import { exitCodeFor, exitCodes, Failure } from "./failure.ts";
import { tell, visible } from "./output.ts";
import { buildProgram } from "./program.ts";

/**
 * Runs the command line and leaves its exit code in `process.exitCode`. Data goes to stdout, everything else to
 * stderr. Throws nothing.
 */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on("error", endBecause);
  // What cannot be said there cannot be said.
  process.stderr.on("error", () => undefined);
  concealSecretWords([...argv, ...argv.map(visible)]);
  try {
    await buildProgram(process.env).parseAsync(
      argv[0] === "help" && argv[1]?.startsWith("-") === true ? ["--help"] : argv,
      { from: "user" },
    );
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said what was wrong.
      process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
      return;
    }
    // Only our own messages have several lines: the names in them are escaped one by one.
    for (const line of explain(error))
      for (const each of error instanceof Failure ? `coffer: ${line}`.split("\n") : [`coffer: ${line}`]) tell(each);
    process.exitCode = exitCodeFor(error);
  }
}

/** Our output cannot be written: the reader has gone, as `head` does, and nobody is left to tell; or it is said. */
function endBecause(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") tell(`coffer: the output cannot be written: ${error.code ?? error.message}`);
  process.exit(exitCodes.failure);
}
