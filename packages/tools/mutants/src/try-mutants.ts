import { join } from "node:path";
import { apply } from "./apply.ts";
import { copyCheckout } from "./copy-checkout.ts";
import type { Mutant } from "./mutant.ts";
import { type Outcome, runTestFile } from "./run-test-file.ts";

export interface Trial {
  /** The checkout to copy. It is not changed. */
  checkout: string;
  /** An empty folder for the copies. */
  scratch: string;
  mutants: readonly Mutant[];
  /** The timeout of tests. */
  environment: NodeJS.ProcessEnv;
  /** Concurrent tests, each in its own copy. */
  jobs: number;
  out: (line: string) => unknown;
  signal: AbortSignal;
}

export interface Tally {
  caught: number;
  survived: number;
  /** Not tried: one of their tests fails without a mutation. */
  untried: number;
}

/** The timeout of a test file without a mutation. */
const mostMilliseconds = 120_000;
/** The timeout with a mutation: a multiple of the usual time, plus the limit of a wait in vain. */
const slower = 3;
const waitMilliseconds = 30_000;
/** The limit of text about a mutant: assertions may have long names. */
const mostCharacters = 200;

/**
 * Shows that the tests pass on the checkout, then applies one mutant after the other. Reports a
 * line for each.
 */
export async function tryMutants({
  checkout,
  scratch,
  mutants,
  environment,
  jobs,
  out,
  signal,
}: Trial): Promise<Tally> {
  const copies = Array.from({ length: jobs }, (_, number) => join(scratch, `copy-${number}`));
  for (const copy of copies) copyCheckout(checkout, copy);
  const durations = new Map<string, number>();
  const run = (directory: string, file: string): Promise<Outcome> => {
    const took = durations.get(file);
    const milliseconds = took === undefined ? mostMilliseconds : slower * took + waitMilliseconds;
    return runTestFile({ directory, file, environment, milliseconds, signal });
  };

  const unfit = new Set<string>();
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
  await eachIn(copies, files, signal, async (copy, file) => {
    const began = performance.now();
    const outcome = await run(copy, file);
    durations.set(file, performance.now() - began);
    if (outcome.kind === "passed" || signal.aborted) return;
    unfit.add(file);
    out(`UNFIT     ${file} does not pass on what is not broken: ${wordsOf(outcome)}`);
  });

  const fit = mutants.filter(({ tests }) => !tests.some((file) => unfit.has(file)));
  const tally: Tally = { caught: 0, survived: 0, untried: mutants.length - fit.length };
  await eachIn(copies, fit, signal, async (copy, mutant) => {
    const began = performance.now();
    const { caught, words } = await tryOne(copy, mutant, run);
    if (signal.aborted) return;
    tally[caught ? "caught" : "survived"] += 1;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    out(`${caught ? "caught    " : "SURVIVED  "}${mutant.name} (${seconds} s): ${words.slice(0, mostCharacters)}`);
  });
  return tally;
}

/** Breaks the copy, runs the tests until one fails, and restores it. */
async function tryOne(
  copy: string,
  mutant: Mutant,
  run: (directory: string, file: string) => Promise<Outcome>,
): Promise<{ caught: boolean; words: string }> {
  const restore = apply(copy, mutant);
  if (restore === null) return { caught: false, words: `it does not apply to ${mutant.file}` };
  const words: string[] = [];
  try {
    for (const file of mutant.tests) {
      const outcome = await run(copy, file);
      if (outcome.kind === "failed") return { caught: true, words: `${file} › ${outcome.assertion}` };
      words.push(`${file} ${wordsOf(outcome)}`);
    }
  } finally {
    restore();
  }
  return { caught: false, words: words.join("; ") };
}

function wordsOf(outcome: Outcome): string {
  if (outcome.kind === "passed") return "passes";
  return outcome.kind === "failed" ? outcome.assertion : `breaks off without a failed assertion: ${outcome.reason}`;
}

/** Works through the items, one at a time in each slot. */
async function eachIn<Item>(
  places: readonly string[],
  items: readonly Item[],
  signal: AbortSignal,
  work: (place: string, item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const worker = async (place: string): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined && !signal.aborted; item = waiting.shift()) {
      await work(place, item);
    }
  };
  await Promise.all(places.map(worker));
}
