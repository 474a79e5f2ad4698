import type { Worker } from "node:worker_threads";
import type { Job, JobResult, JobSettings } from "./job.ts";
import { failed, JobRunner } from "./run-job.ts";
import { startWorker } from "./start-worker.ts";
import type { Ready, RuleSource } from "./worker-data.ts";
import { engineOf } from "./worker-data.ts";

/** Scans jobs, in no order; a thread's results come in batches. */
export interface Pool {
  scan(jobs: AsyncIterable<Job> | Iterable<Job>, onResult: (job: Job, result: JobResult) => void): Promise<void>;
  close(): Promise<void>;
}

const jobsAtOnce = 16;
const batchesAhead = 2;
const threadEnded = "cannot be scanned: the thread ended";

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

/** A pool of worker threads, each with its own engine. */
export function workerPool(threads: number, rules: RuleSource, settings: JobSettings): Pool {
  const workers = Array.from({ length: threads }, () => startWorker({ rules, settings }));
  return {
    async scan(jobs, onResult) {
      const iterator = Symbol.asyncIterator in jobs ? jobs[Symbol.asyncIterator]() : jobs[Symbol.iterator]();
      await Promise.all(workers.map((worker) => feed(worker, () => batch(iterator), onResult)));
      // Nothing is left unless every thread has died.
      for (let left = await batch(iterator); left.length > 0; left = await batch(iterator))
        for (const job of left) onResult(job, failed(job, threadEnded));
    },
    async close() {
      await Promise.all(
        workers.map(
          (worker) =>
            new Promise<void>((done) => {
              // One that died has no further event.
              if (worker.threadId < 0) {
                done();
                return;
              }
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

/** Gives a thread batch after batch, the next one before it has done the last, so that it never waits. */
async function feed(
  worker: Worker,
  take: () => Promise<Job[]>,
  onResult: (job: Job, result: JobResult) => void,
): Promise<void> {
  const state: { given: Job[][]; died: string | undefined; wake: () => void } = {
    given: [],
    died: undefined,
    wake: () => undefined,
  };
  const settled = (): Promise<void> => new Promise((resolve) => (state.wake = resolve));
  const onMessage = (results: JobResult[] | Ready): void => {
    if (!Array.isArray(results)) return;
    const jobs = state.given.shift() ?? [];
    jobs.forEach((job, index) => onResult(job, results[index] ?? failed(job, threadEnded)));
    state.wake();
  };
  /** The thread died, for instance for want of memory: what it had not done is named. */
  const end = (reason: unknown): void => {
    state.died ??= reason instanceof Error ? `cannot be scanned: ${reason.message}` : threadEnded;
    for (const job of state.given.splice(0).flat()) onResult(job, failed(job, state.died));
    state.wake();
  };
  worker.on("message", onMessage);
  worker.once("error", end);
  worker.once("exit", end);
  const isDead = (): boolean => state.died !== undefined;
  while (!isDead()) {
    const jobs = await take();
    if (jobs.length === 0) break;
    state.given.push(jobs);
    if (isDead()) end(undefined);
    else worker.postMessage(jobs);
    while (state.given.length >= batchesAhead) await settled();
  }
  while (state.given.length > 0) await settled();
  worker.off("message", onMessage);
}
