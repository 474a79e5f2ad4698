import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The repeated request of one connection. */
export interface Request {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A bounded load: it ends after `seconds`, or earlier if each request is sent only once. */
export interface LoadPlan {
  /** The target; several get an equal share of the connections. */
  url: string | readonly string[];
  connections: number;
  seconds: number;
  /** Sent in order, each connection from its own position on. */
  requests: Request[];
  /** Ends when each request was sent once. */
  once?: boolean;
  /** The number of source addresses, one for each request in turn. */
  addresses?: number;
  /** The required status of every response. */
  expect: number;
}

/** The result of a load. Latencies in milliseconds. */
export interface LoadResult {
  requests: number;
  seconds: number;
  unexpected: number;
  p50: number;
  p99: number;
}

/** A separate process that loads servers on loopback, so that its work is not counted as theirs. */
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
