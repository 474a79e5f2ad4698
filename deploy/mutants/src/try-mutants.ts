import { join } from "node:path";
import { apply } from "./apply.ts";
import { copyCheckout } from "./copy-checkout.ts";
import type { Mutant } from "./mutant.ts";
import type { Outcome } from "./run-test-file.ts";
import { runTestFile } from "./run-test-file.ts";

export interface Trial {
  /** What is copied. Nothing is written there. */
  checkout: string;
  /** An empty folder, for the copies. */
  scratch: string;
  mutants: readonly Mutant[];
  /** Of the tests. */
  environment: NodeJS.ProcessEnv;
  /** How many tests run at once, each in a copy of its own. */
  jobs: number;
  out: (line: string) => unknown;
  signal: AbortSignal;
}

export interface Tally {
  caught: number;
  survived: number;
  /** Not tried, because a test of theirs does not even pass on what is not broken. */
  untried: number;
}

/** How long a test file may take on what is not broken. */
const mostMilliseconds = 120_000;
/** On a mutant: so many times as long, and as long as what waits in vain for something takes to say so. */
const slower = 3;
const waitMilliseconds = 30_000;
/** Of what is said about a mutant: assertions may be named at length. */
const mostCharacters = 200;

/** Shows that the tests pass on the checkout as it is, then breaks it in one way after the other. A line for each. */
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

/** Breaks the copy, runs the tests until one fails, and mends it. */
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

/** Works through the items, one at a time in each place. */
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
