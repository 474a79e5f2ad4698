import type { NamedCase } from "./read-cases.ts";

/** Cases at a time. An organization has at most 10 SIEM endpoints, and the cases together must stay below that. */
export const sideBySide = 6;

const mostlyWaitsSeconds = 5;

/**
 * Runs each case: at most `sideBySide` at a time, and beside them all that mostly wait.
 * Without `forwarded` one after the other, because cases of one address share its limits.
 */
export async function schedule(
  cases: readonly NamedCase[],
  forwarded: boolean,
  run: (each: NamedCase) => Promise<void>,
): Promise<void> {
  const waiting = cases.filter((each) => forwarded && waitOf(each) >= mostlyWaitsSeconds);
  const queue = cases.filter((each) => !waiting.includes(each));
  const work = async (): Promise<void> => {
    for (let each = queue.shift(); each !== undefined; each = queue.shift()) await run(each);
  };
  await Promise.all([...waiting.map(run), ...Array.from({ length: forwarded ? sideBySide : 1 }, work)]);
}

/** The seconds that the steps of a case wait in any case. */
function waitOf({ steps }: NamedCase): number {
  return steps.reduce((sum, step) => {
    if ("pause" in step) return sum + step.pause;
    if ("stays" in step) return sum + step.for;
    return "pinged" in step ? sum + step.within : sum;
  }, 0);
}
