import { readFileSync } from "node:fs";
import type { CustomRule } from "../custom/custom-rule.ts";
import type { Job, JobResult, JobSettings } from "./job.ts";
import type { Pool } from "./pool.ts";
import { failed } from "./run-job.ts";
import { startWorker } from "./start-worker.ts";
import type { Ready } from "./worker-data.ts";

/** The time that the rules of a configuration may take for one file. */
const mostMilliseconds = 1_000;
/** A busy machine may give a thread no time at all: then its own processor time decides, up to this. */
const mostWaiting = 30_000;

/**
 * Runs the rules of a configuration, whose patterns may take for ever: in a thread that is ended
 * when a file takes longer than a second. The rule that was running is reported for that file,
 * which is scanned again without it.
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
  const worker = startWorker({ rules: { custom: rules }, settings, running });
  const task = await new Promise<string | undefined>((done, fail) => {
    worker.once("message", ({ task }: Ready) => done(task));
    worker.once("error", fail);
  });
  return {
    rules,
    end: () => worker.terminate(),
    run: (job) =>
      new Promise((done) => {
        const began = performance.now();
        const spentBefore = processorTime(task);
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
        const look = (): void => {
          const now = processorTime(task);
          const spent = spentBefore === undefined || now === undefined ? mostMilliseconds : now - spentBefore;
          if (spent >= mostMilliseconds * 0.9 || performance.now() - began > mostWaiting)
            finish({ guilty: Atomics.load(new Int32Array(running), 0) });
          else timer = setTimeout(look, mostMilliseconds / 4);
        };
        timer = setTimeout(look, mostMilliseconds);
        worker.on("message", take);
        worker.once("error", die);
        worker.postMessage([job]);
      }),
  };
}

/**
 * Linux counts the time of a thread in hundredths of a second (`proc_pid_stat(5)`,
 * `sysconf(_SC_CLK_TCK)`).
 */
const millisecondsPerTick = 10;

/**
 * Milliseconds of processor time of a thread, by its folder in /proc: undefined without one, or
 * when the thread ended.
 */
function processorTime(task: string | undefined): number | undefined {
  let status: string;
  try {
    status = readFileSync(`${task}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // After the name in parentheses: the state and ten more, then the time in user mode and in the kernel.
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick;
}
