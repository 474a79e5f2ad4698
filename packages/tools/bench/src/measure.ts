import type { LoadPlan, LoadResult, Loader } from "./load.ts";
import { cpuSeconds } from "./cpu.ts";

/** A load with its cost in the serving processes, in CPU microseconds per request. */
export interface Measured extends LoadResult {
  /** Per group of processes, by its name. */
  cpuMicroseconds: Record<string, number>;
}

/**
 * Runs a load and accounts the CPU time of each group of processes until its work is `drained`.
 */
export async function measure(
  loader: Loader,
  plan: LoadPlan,
  groups: Record<string, readonly number[]>,
  drained: () => Promise<void> = () => Promise.resolve(),
): Promise<Measured> {
  await drained();
  const before = Object.entries(groups).map(([name, pids]) => [name, pids, cpuSeconds(pids)] as const);
  const result = await loader.run(plan);
  if (result.unexpected > 0) {
    throw new Error(`${result.unexpected} of ${result.requests} answers were not ${plan.expect}: nothing was measured`);
  }
  await drained();
  const cpuMicroseconds = Object.fromEntries(
    before.map(([name, pids, used]) => [name, ((cpuSeconds(pids) - used) * 1e6) / result.requests]),
  );
  return { ...result, cpuMicroseconds };
}

/** The median. */
export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/**
 * Runs the two alternately, `rounds` times, so that a slow machine slows both; returns their medians.
 * The first round is not counted: it compiles the code.
 */
export async function interleaved<A, B>(
  rounds: number,
  a: () => Promise<A>,
  b: () => Promise<B>,
): Promise<{ a: A[]; b: B[] }> {
  const results = { a: [] as A[], b: [] as B[] };
  for (let round = 0; round <= rounds; round += 1) {
    const [of, beside] = [await a(), await b()];
    if (round === 0) continue;
    results.a.push(of);
    results.b.push(beside);
  }
  return results;
}
