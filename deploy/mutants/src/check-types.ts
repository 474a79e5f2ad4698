import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { apply } from "./apply.ts";
import { copyCheckout } from "./copy-checkout.ts";
import type { Mutant } from "./mutant.ts";

/**
 * The type errors that mutants bring, a line each: a mutant that cannot run would be taken for one that is caught. As many
 * as do not touch the same text are checked at once.
 */
export async function checkTypes(
  checkout: string,
  scratch: string,
  mutants: readonly Mutant[],
  signal: AbortSignal,
): Promise<string[]> {
  const copy = join(scratch, "types");
  copyCheckout(checkout, copy);
  const errors: string[] = [];
  for (let left = mutants; left.length > 0 && !signal.aborted;) {
    const applied = left.map((mutant) => ({ mutant, restore: apply(copy, mutant) }));
    errors.push(...(await compile(copy, signal)));
    for (const { restore } of applied.toReversed()) restore?.();
    left = applied.filter(({ restore }) => restore === null).map(({ mutant }) => mutant);
  }
  rmSync(copy, { recursive: true, force: true });
  return errors;
}

/** What a check that was taken out leaves unused is no error here. */
const options = ["-p", "tsconfig.json", "--noUnusedLocals", "false", "--noUnusedParameters", "false"];

function compile(directory: string, signal: AbortSignal): Promise<string[]> {
  return new Promise((done) => {
    const program = join(directory, "node_modules/.bin/tsc");
    // Loaders of the caller's, such as a test runner's, are not for the compiler: it does not start with some.
    const bare = ["-u", "NODE_OPTIONS", program, ...options];
    execFile("env", bare, { cwd: directory, signal, maxBuffer: 1 << 24 }, (error, stdout) => {
      if (error === null || signal.aborted) done([]);
      else done(stdout.trim() === "" ? [error.message] : stdout.trim().split("\n"));
    });
  });
}
