import { parseArgs } from "node:util";
import type { Mutant } from "./mutant.ts";

export interface Options {
  jobs: number;
  list: boolean;
  mutants: readonly Mutant[];
}

export const usage = `npm run mutants -- [--jobs N] [--list] [name…]

Breaks a copy of the checkout in one way after the other and runs the tests that must notice. Nothing is written to the
checkout.

  npm run mutants                        all of them
  npm run mutants -- audit client        those with "audit" or "client" in their names
  npm run mutants -- --list              the names, and what is broken

  --jobs  how many tests run at once; 2
`;

/** A wrong command line. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** Parses the command line; null for help. Throws UsageError. */
export function readOptions(args: readonly string[], mutants: readonly Mutant[]): Options | null {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        jobs: { type: "string", default: "2" },
        list: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message); // parseArgs throws TypeErrors
  }
  const { jobs, list, help } = parsed.values;
  if (help) return null;
  if (!/^[1-9]\d?$/.test(jobs)) throw new UsageError("--jobs takes a number from 1 to 99");
  return { jobs: Number(jobs), list, mutants: chosen(parsed.positionals, mutants) };
}

function chosen(words: readonly string[], mutants: readonly Mutant[]): readonly Mutant[] {
  for (const word of words) {
    if (!mutants.some(({ name }) => name.includes(word))) throw new UsageError(`no mutant has "${word}" in its name`);
  }
  return words.length === 0 ? mutants : mutants.filter(({ name }) => words.some((word) => name.includes(word)));
}
