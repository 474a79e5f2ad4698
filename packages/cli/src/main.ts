import { CommanderError } from "commander";
import { CofferError } from "@coffer/sdk";
import { exitCodeFor, exitCodes } from "./failure.ts";
import { tell } from "./output.ts";
import { buildProgram } from "./program.ts";

/**
 * Runs the command line and leaves its exit code in `process.exitCode`. Data goes to stdout, everything else to
 * stderr. Throws nothing.
 */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on("error", endQuietly);
  try {
    await buildProgram(process.env).parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said what was wrong.
      process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
      return;
    }
    tell(`coffer: ${explain(error)}`);
    process.exitCode = exitCodeFor(error);
  }
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return "something failed that should not have";
  if (!(error instanceof CofferError)) return error.message;
  const parts = [error.message];
  for (const { field, issue } of error.details ?? []) parts.push(`  ${field}: ${issue}`);
  if (error.code === "rate_limited") parts.push(`  try again in ${error.retryAfterSeconds ?? 60} s`);
  if (error.code === "token_reused" || error.code === "invalid_token")
    parts.push("  a person logs in again with `coffer login`; a machine that was cut off needs a new one-time token");
  if (error.requestId !== undefined && (error.status ?? 0) >= 500) parts.push(`  request ${error.requestId}`);
  return parts.join("\n");
}

/** Whoever read our output has gone, as `head` does: there is nobody left to say anything to. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(exitCodes.failure);
  throw error;
}
