import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What one connection of the load asks, again and again. */
export interface Request {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A bounded load: it ends by itself after `seconds`, or sooner when each request is to be sent only once. */
export interface LoadPlan {
  /** Where to; of several each takes an equal share of the connections. */
  url: string | readonly string[];
  connections: number;
  seconds: number;
  /** Taken in turn, each connection from its own place on. */
  requests: Request[];
  /** Ends when each request was sent once. */
  once?: boolean;
  /** Gives every request a source address of its own, of so many. */
  addresses?: number;
  /** The status that every answer must have. */
  expect: number;
}

/** What came of a load. Latencies in milliseconds. */
export interface LoadResult {
  requests: number;
  seconds: number;
  unexpected: number;
  p50: number;
  p99: number;
}

/** A process of its own that loads servers on loopback, so that its work is not counted as theirs. */
export interface Loader {
  run(plan: LoadPlan): Promise<LoadResult>;
  close(): void;
}

/** Starts the loading process. */
export function startLoader(): Loader {
  const child: ChildProcess = fork(fileURLToPath(new URL("./load-process.ts", import.meta.url)), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return {
    run: (plan) =>
      new Promise((resolve, reject) => {
        const ended = (): void => reject(new Error("the loading process ended"));
        child.once("exit", ended);
        child.once("message", (result) => {
          child.off("exit", ended);
          resolve(result as LoadResult); // load-process.ts sends nothing else
        });
        child.send(plan);
      }),
    close: () => child.kill(),
  };
}
