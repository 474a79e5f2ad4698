import { Worker } from "node:worker_threads";
import type { Job, JobResult, JobSettings } from "./job.ts";
import { failed, JobRunner } from "./run-job.ts";
import type { RuleSource, WorkerSettings } from "./worker-data.ts";
import { engineOf } from "./worker-data.ts";

/** Scans jobs, each result as soon as it is there, in no order. */
export interface Pool {
  scan(jobs: AsyncIterable<Job> | Iterable<Job>, onResult: (job: Job, result: JobResult) => void): Promise<void>;
  close(): Promise<void>;
}

const jobsAtOnce = 16;

/** `scan-worker.ts` in the checkout, `scan-worker.js` where it was compiled. */
export const workerUrl = new URL(
  `./scan-worker${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`,
  import.meta.url,
);

/** A pool of one thread, this one: nothing needs to be started for few files. */
export function localPool(rules: RuleSource, settings: JobSettings): Pool {
  const runner = new JobRunner(engineOf(rules), settings);
  return {
    async scan(jobs, onResult) {
      for await (const job of jobs) onResult(job, await runner.run(job));
    },
    close() {
      runner.close();
      return Promise.resolve();
    },
  };
}

/** A pool of worker threads, each with an engine of its own. */
export function workerPool(threads: number, rules: RuleSource, settings: JobSettings): Pool {
  const workers = Array.from(
    { length: threads },
    () => new Worker(workerUrl, { workerData: { rules, settings } satisfies WorkerSettings }),
  );
  return {
    async scan(jobs, onResult) {
      const iterator = Symbol.asyncIterator in jobs ? jobs[Symbol.asyncIterator]() : jobs[Symbol.iterator]();
      await Promise.all(workers.map((worker) => feed(worker, () => batch(iterator), onResult)));
    },
    async close() {
      await Promise.all(
        workers.map(
          (worker) =>
            new Promise<void>((done) => {
              worker.once("exit", () => done());
              worker.postMessage("close");
            }),
        ),
      );
    },
  };
}

async function batch(iterator: AsyncIterator<Job> | Iterator<Job>): Promise<Job[]> {
  const jobs: Job[] = [];
  while (jobs.length < jobsAtOnce) {
    const next = await iterator.next();
    if (next.done === true) break;
    jobs.push(next.value);
    if (next.value.source.from === "piece") break;
  }
  return jobs;
}

async function feed(
  worker: Worker,
  take: () => Promise<Job[]>,
  onResult: (job: Job, result: JobResult) => void,
): Promise<void> {
  for (let jobs = await take(); jobs.length > 0; jobs = await take()) await runBatch(worker, jobs, onResult);
}

function runBatch(
  worker: Worker,
  jobs: readonly Job[],
  onResult: (job: Job, result: JobResult) => void,
): Promise<void> {
  const waiting = [...jobs];
  return new Promise((done) => {
    const finish = (): void => {
      worker.off("message", take);
      worker.off("exit", end);
      worker.off("error", end);
      done();
    };
    const take = (result: JobResult | "ready"): void => {
      if (result === "ready") return;
      const job = waiting.shift();
      if (job !== undefined) onResult(job, result);
      if (waiting.length === 0) finish();
    };
    /** The thread died, for instance for want of memory: what it had not done is named. */
    const end = (reason: unknown): void => {
      const message = `cannot be scanned: ${reason instanceof Error ? reason.message : "the thread ended"}`;
      for (const job of waiting.splice(0)) onResult(job, failed(job, message));
      finish();
    };
    worker.on("message", take);
    worker.once("exit", end);
    worker.once("error", end);
    worker.postMessage(jobs);
  });
}
