import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { apply } from "./apply.ts";
import { copyCheckout } from "./copy-checkout.ts";
import type { Mutant } from "./mutant.ts";

/**
 * The type errors of mutants, a line each: a mutant that does not compile would count as caught. Mutants
 * of different texts are checked together.
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

/** A removed check may leave unused names. */
const options = ["-p", "tsconfig.json", "--noUnusedLocals", "false", "--noUnusedParameters", "false"];

function compile(directory: string, signal: AbortSignal): Promise<string[]> {
  return new Promise((done) => {
    const program = join(directory, "node_modules/.bin/tsc");
    // The compiler does not start with some loaders of the caller, such as a test runner's.
    const bare = ["-u", "NODE_OPTIONS", program, ...options];
    execFile("env", bare, { cwd: directory, signal, maxBuffer: 1 << 24 }, (error, stdout) => {
      if (error === null || signal.aborted) done([]);
      else done(stdout.trim() === "" ? [error.message] : stdout.trim().split("\n"));
    });
  });
}
