import {
  collectFindings,
  type Job,
  type JobResult,
  jobsOfFile,
  joinPieces,
  localPool,
  type Occurrence,
  type Pool,
  type Problem,
  workerPool,
} from "@coffer/scan";
import { version } from "@coffer/sdk/version";
import { withoutIgnored } from "./ignore-file.ts";
import type { Input } from "./input.ts";
import { startProgress } from "./progress.ts";
import type { Report } from "./report/report.ts";
import type { Settings } from "./settings.ts";

/** The results of all pools for one input. */
interface Totals {
  occurrences: Occurrence[];
  problems: Problem[];
  binary: Set<string>;
  inputs: number;
  bytes: number;
}

/** Scans an input with the built-in rules and those of the configuration. */
export async function runScan(input: Input & { sizes?: number[] }, settings: Settings): Promise<Report> {
  const totals: Totals = { occurrences: [], problems: [...input.problems], binary: new Set(), inputs: 0, bytes: 0 };
  const progress = startProgress();
  const rules = { builtIn: settings.choice };
  const custom = await customPoolOf(settings);
  const pool =
    input.small || settings.threads === 1
      ? localPool(rules, settings.jobs)
      : workerPool(settings.threads, rules, settings.jobs);
  try {
    await scanAll(pool, custom, input, totals, (bytes) => progress.add(bytes));
  } finally {
    progress.end();
    await Promise.all([pool.close(), custom?.close()]);
  }
  const occurrences = (await input.finish?.(totals.occurrences)) ?? totals.occurrences;
  return reportOf(totals, occurrences, settings);
}

async function customPoolOf({ custom, jobs }: Settings): Promise<Pool | undefined> {
  if (custom.length === 0) return undefined;
  const { customPool } = await import("@coffer/scan/custom-pool");
  return customPool(custom, jobs);
}

async function scanAll(
  pool: Pool,
  custom: Pool | undefined,
  input: Input & { sizes?: number[] },
  totals: Totals,
  onDone: (bytes: number) => void,
): Promise<void> {
  const accepting: Promise<void>[] = [];
  const accept = async (job: Job, result: JobResult): Promise<void> => {
    const found = input.accept === undefined ? result.occurrences : await input.accept(job, result);
    // A file may hold more of them than a call has arguments.
    for (const occurrence of found) totals.occurrences.push(occurrence);
    for (const problem of result.problems) totals.problems.push(problem);
  };
  const seen: Job[] = [];
  const pieces: Pieces = new Map();
  const jobs = input.sizes === undefined ? input.jobs : cut([...(input.jobs as Iterable<Job>)], input.sizes, pieces);
  await pool.scan(jobs, (job, result) => {
    const whole = wholeOf(job, result, pieces);
    if (whole === undefined) return;
    totals.inputs += 1;
    totals.bytes += whole.result.bytes;
    for (const path of whole.result.binary) totals.binary.add(path);
    if (custom !== undefined) seen.push(whole.job);
    onDone(whole.result.bytes);
    accepting.push(accept(whole.job, whole.result));
  });
  await custom?.scan(seen, (job, result) => accepting.push(accept(job, result)));
  await Promise.all(accepting);
}

/** The pieces of large files: the file, the piece's place in it, and what is known of all its pieces. */
type Pieces = Map<Job, { whole: Job; place: number; results: (JobResult | undefined)[] }>;

/** Large files as pieces. */
async function* cut(jobs: readonly Job[], sizes: readonly number[], pieces: Pieces): AsyncGenerator<Job> {
  for (const [index, job] of jobs.entries()) {
    const parts =
      job.source.from === "file" ? await jobsOfFile(job, job.source.file, sizes[index] ?? 0).catch(() => [job]) : [job];
    const results: (JobResult | undefined)[] = parts.map(() => undefined);
    if (parts.length > 1) parts.forEach((part, place) => pieces.set(part, { whole: job, place, results }));
    yield* parts;
  }
}

/** The whole file when its last piece is done; undefined before. */
function wholeOf(job: Job, result: JobResult, pieces: Pieces): { job: Job; result: JobResult } | undefined {
  const piece = pieces.get(job);
  if (piece === undefined) return { job, result };
  const { whole, place, results } = piece;
  pieces.delete(job);
  results[place] = result;
  const done = results.filter((each) => each !== undefined);
  return done.length < results.length ? undefined : { job: whole, result: joinPieces(done) };
}

function reportOf(totals: Totals, occurrences: readonly Occurrence[], settings: Settings): Report {
  const all = collectFindings(occurrences, settings.choice.minConfidence);
  const unignored = withoutIgnored(all, settings.ignored);
  const known = new Set(settings.baseline?.findings.map(({ fingerprint }) => fingerprint));
  const findings = unignored.filter(({ fingerprint }) => !known.has(fingerprint));
  return {
    findings,
    problems: totals.problems,
    inputs: totals.inputs,
    bytes: totals.bytes,
    binary: totals.binary.size,
    inBaseline: unignored.length - findings.length,
    ignored: all.length - unignored.length,
    version: version,
  };
}
