import { Worker } from "node:worker_threads";
import type { CustomRule } from "../custom/custom-rule.ts";
import type { Job, JobResult, JobSettings } from "./job.ts";
import type { Pool } from "./pool.ts";
import { workerUrl } from "./pool.ts";
import { failed } from "./run-job.ts";
import type { WorkerSettings } from "./worker-data.ts";

/** What the rules of a configuration may take for one file. */
const mostMilliseconds = 1_000;
/** A busy machine may give a thread no time at all: then its own processor time decides, up to this. */
const mostWaiting = 30_000;

/**
 * Runs the rules of a configuration, whose patterns may take for ever: in a thread that is ended when a file takes longer than
 * a second. The rule that was running is reported for that file, which is scanned again without it.
 */
export function customPool(rules: readonly CustomRule[], settings: JobSettings): Pool {
  let thread: Thread | undefined;
  const scanOne = async (job: Job, left: readonly CustomRule[]): Promise<JobResult> => {
    if (left.length === 0) return { occurrences: [], problems: [], binary: [], bytes: 0 };
    if (thread?.rules !== left) {
      await thread?.end();
      thread = await startThread(left, settings);
    }
    const outcome = await thread.run(job);
    if (!("guilty" in outcome)) return outcome;
    await thread.end();
    thread = undefined;
    const guilty = left[outcome.guilty];
    const rest = await scanOne(
      job,
      left.filter((rule) => rule !== guilty),
    );
    const message = `rule ${guilty?.id ?? ""} took longer than ${mostMilliseconds / 1000} s and was left out here`;
    return { ...rest, problems: [{ path: job.path, message }, ...rest.problems] };
  };
  return {
    async scan(jobs, onResult) {
      for await (const job of jobs) onResult(job, await scanOne(job, rules));
    },
    async close() {
      await thread?.end();
    },
  };
}

interface Thread {
  rules: readonly CustomRule[];
  run(job: Job): Promise<JobResult | { guilty: number }>;
  end(): Promise<unknown>;
}

async function startThread(rules: readonly CustomRule[], settings: JobSettings): Promise<Thread> {
  const running = new SharedArrayBuffer(4);
  const worker = new Worker(workerUrl, {
    workerData: { rules: { custom: rules }, settings, running } satisfies WorkerSettings,
  });
  await new Promise<void>((done, fail) => {
    worker.once("message", () => done());
    worker.once("error", fail);
  });
  return {
    rules,
    end: () => worker.terminate(),
    run: (job) =>
      new Promise((done) => {
        const began = performance.now();
        const spentBefore = processorTime(worker);
        let timer: NodeJS.Timeout;
        const finish = (outcome: JobResult | { guilty: number }): void => {
          clearTimeout(timer);
          worker.off("message", take);
          worker.off("error", die);
          done(outcome);
        };
        const take = ([result]: [JobResult]): void => finish(result);
        const die = (error: unknown): void =>
          finish(failed(job, `cannot be scanned: ${error instanceof Error ? error.message : "the thread ended"}`));
        const look = async (): Promise<void> => {
          const [before, now] = await Promise.all([spentBefore, processorTime(worker)]);
          const spent = before === undefined || now === undefined ? mostMilliseconds : now - before;
          if (spent >= mostMilliseconds * 0.9 || performance.now() - began > mostWaiting)
            finish({ guilty: Atomics.load(new Int32Array(running), 0) });
          else timer = setTimeout(() => void look(), mostMilliseconds / 4);
        };
        timer = setTimeout(() => void look(), mostMilliseconds);
        worker.on("message", take);
        worker.once("error", die);
        worker.postMessage([job]);
      }),
  };
}

/** Milliseconds of processor time of a thread, where this Node can say and the thread lets it. */
async function processorTime(worker: Worker): Promise<number | undefined> {
  const { cpuUsage } = worker as { cpuUsage?: () => Promise<NodeJS.CpuUsage> }; // from Node 24.6 on
  if (cpuUsage === undefined) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((done) => (timer = setTimeout(() => done(undefined), mostMilliseconds / 4)));
  const usage = await Promise.race([cpuUsage.call(worker).catch(() => undefined), late]);
  clearTimeout(timer);
  return usage === undefined ? undefined : (usage.user + usage.system) / 1000;
}
