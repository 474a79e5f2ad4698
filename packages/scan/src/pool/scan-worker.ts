// A thread of the pool: does the jobs that it is sent, in their order.
import { parentPort, workerData } from "node:worker_threads";
import type { Job, JobResult } from "./job.ts";
import { JobRunner } from "./run-job.ts";
import type { WorkerSettings } from "./worker-data.ts";
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
parentPort?.postMessage("ready");
