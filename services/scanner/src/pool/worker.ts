// A thread of the pool: does one job after the other.
import { parentPort } from "node:worker_threads";
import type { Job, Message } from "./job.ts";
import { scanJob } from "./scan-job.ts";

const say = (message: Message): void => parentPort?.postMessage(message);

async function run(job: Job): Promise<void> {
  for await (const part of scanJob(job)) {
    if (part === null) {
      say("no diff");
      return;
    }
    say({ part });
  }
  say("done");
}

// A failure ends the thread; the pool observes its end.
parentPort?.on("message", (job: Job) => void run(job));
say("ready");
