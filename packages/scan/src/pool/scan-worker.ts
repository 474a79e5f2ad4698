// A thread of the pool: does the jobs that it is sent, in their order.
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import type { Job, JobResult } from "./job.ts";
import { JobRunner } from "./run-job.ts";
import type { Ready, WorkerSettings } from "./worker-data.ts";
import { engineOf } from "./worker-data.ts";

const { rules, settings, running } = workerData as WorkerSettings; // pool.ts sends nothing else
const engine = engineOf(rules);
if (running !== undefined) {
  const current = new Int32Array(running);
  engine.onRule = (index) => Atomics.store(current, 0, index);
}
const runner = new JobRunner(engine, settings);

let last: Promise<void> = Promise.resolve();
parentPort?.on("message", (jobs: Job[] | "close") => {
  last = last.then(async () => {
    if (jobs === "close") {
      runner.close();
      parentPort?.close();
      return;
    }
    const results: JobResult[] = [];
    for (const job of jobs) results.push(await runner.run(job));
    parentPort?.postMessage(results);
  });
});
parentPort?.postMessage({ task: taskFolder() } satisfies Ready);

function taskFolder(): string | undefined {
  try {
    return join("/proc", readlinkSync("/proc/thread-self"));
  } catch {
    return undefined;
  }
}
