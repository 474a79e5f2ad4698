import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { mutated } from "./apply.ts";
import type { Mutant } from "./mutant.ts";

/** The faults of mutants, a line each: they no longer apply to the checkout. */
export function misfits(directory: string, mutants: readonly Mutant[]): string[] {
  return mutants.flatMap((mutant) => problemsOf(directory, mutant).map((problem) => `${mutant.name}: ${problem}`));
}

function problemsOf(directory: string, mutant: Mutant): string[] {
  const { file, find, replace, tests } = mutant;
  const missing = [file, ...tests].filter((path) => !existsSync(resolve(directory, path)));
  if (missing.length > 0) return missing.map((path) => `there is no ${path}`);
  if (find === replace) return ["it changes nothing"];
  const text = readFileSync(resolve(directory, file), "utf8");
  if (mutated(text, mutant) !== null) return [];
  return [`its text occurs ${text.split(find).length - 1} times in ${file}, not once: ${JSON.stringify(find)}`];
}
