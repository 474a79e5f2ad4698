import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Mutant } from "./mutant.ts";

/** The text with the mutation; null unless the original occurs exactly once. */
export function mutated(text: string, { find, replace }: Pick<Mutant, "find" | "replace">): string | null {
  const [before, after, ...more] = text.split(find);
  return before === undefined || after === undefined || more.length > 0 ? null : before + replace + after;
}

/**
 * Breaks a file below `directory`. Returns the function that restores it; null, without a change, if the
 * mutant does not apply.
 */
export function apply(directory: string, mutant: Mutant): (() => void) | null {
  const path = resolve(directory, mutant.file);
  const text = readFileSync(path, "utf8");
  const broken = mutated(text, mutant);
  if (broken === null) return null;
  writeFileSync(path, broken);
  return () => writeFileSync(path, text);
}
