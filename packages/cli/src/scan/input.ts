import type { Job, JobResult, Occurrence, Problem } from "@coffer/scan";

/** The input of a scan. */
export interface Input {
  jobs: AsyncIterable<Job> | Iterable<Job>;
  /** Whether there is little to scan: then no threads are started. */
  small: boolean;
  /** What could not be read while the jobs were listed. */
  problems: Problem[];
  /** Which occurrences of a finished job count, and where they stand. Without it all do. */
  accept?: (job: Job, result: JobResult) => Occurrence[] | Promise<Occurrence[]>;
  /** A last look at everything that was found. */
  finish?: (occurrences: Occurrence[]) => Occurrence[] | Promise<Occurrence[]>;
  /** Whether everything is looked at, so that an unused entry of `.cofferignore` is of no use. */
  whole: boolean;
}
