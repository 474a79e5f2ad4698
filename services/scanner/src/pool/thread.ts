import { Worker } from "node:worker_threads";
import { ServiceError } from "@coffer/errors";
import type { Problem } from "@coffer/scan";
import type { Job, Message, Outcome } from "./job.ts";

/** A thread that does one job at a time. */
export interface Thread {
  /** False after its end: it accepts no more jobs. */
  readonly lives: boolean;
  /**
   * Ends within the time limit for any input; the unscanned rest is a problem in the outcome.
   * @throws ServiceError `invalid_request` for a text that is not a diff
   */
  scan(job: Job): Promise<Outcome>;
  end(): Promise<unknown>;
}

/** The heap of a thread. Scanned texts are outside of it. */
const resourceLimits = { maxOldGenerationSizeMb: 256 };

export interface ThreadOptions {
  mostMilliseconds: number;
  program: URL;
}

export function startThread({ mostMilliseconds, program }: ThreadOptions): Thread {
  // Output of a thread is not logged: an error of the engine may quote the scanned text.
  const worker = new Worker(program, { resourceLimits, stdout: true, stderr: true });
  let lives = true;
  const end = (): Promise<unknown> => {
    lives = false;
    return worker.terminate();
  };
  // Without a job, nothing else observes the end of the thread.
  worker.on("error", () => void end());
  worker.on("exit", () => void end());
  const started = new Promise<void>((done) => {
    worker.once("message", () => done());
    worker.once("exit", () => done());
  });
  return {
    get lives() {
      return lives;
    },
    end,
    async scan(job) {
      // The bound is for the scan: on a busy machine a thread starts slowly.
      await started;
      return new Promise((resolve, reject) => {
        const parts: Outcome[] = [];
        const settle = (how: () => void): void => {
          clearTimeout(timer);
          worker.off("message", hear).off("exit", die);
          how();
        };
        const hear = (message: Message): void => {
          if (message === "done") settle(() => resolve(joined(parts, [])));
          else if (message === "no diff") settle(() => reject(noDiff()));
          else if (message !== "ready") parts.push(message.part);
        };
        const cut = (message: string): void => {
          void end();
          settle(() => resolve(joined(parts, unread(job, parts.length, message))));
        };
        const die = (): void => cut("could not be scanned");
        const timer = setTimeout(() => cut("was not scanned whole: it takes too long"), mostMilliseconds);
        worker.on("message", hear).on("exit", die);
        if (lives) worker.postMessage(job);
        else die();
      });
    },
  };
}

function noDiff(): ServiceError {
  return new ServiceError("invalid_request", "diff holds no unified diff");
}

function joined(parts: readonly Outcome[], unread: readonly Problem[]): Outcome {
  const sum = (of: (part: Outcome) => number): number => parts.reduce((total, part) => total + of(part), 0);
  return {
    occurrences: parts.flatMap(({ occurrences }) => occurrences),
    problems: [...parts.flatMap(({ problems }) => problems), ...unread],
    inputs: sum(({ inputs }) => inputs),
    bytes: sum(({ bytes }) => bytes),
    binary: sum(({ binary }) => binary),
  };
}

/** The problems of everything from a place in the job on. */
function unread({ documents, diff }: Job, from: number, message: string): Problem[] {
  const paths = [...documents.map(({ path }) => path), ...(diff === undefined ? [] : ["diff"])];
  return paths.slice(from).map((path) => ({ path, message }));
}
